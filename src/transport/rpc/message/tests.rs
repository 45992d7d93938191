use super::*;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

const CASES: u64 = 100_000;
const HEAD: usize = MARK_BYTES + CALL_BYTES + LENGTH_BYTES;

/// A call of the sink around that argument, as a record.
fn sink(xid: u32, argument: &[u8]) -> Vec<u8> {
    let mut room = vec![0xee; HEAD + argument.len() + 3];
    room[HEAD..HEAD + argument.len()].copy_from_slice(argument);
    let end = write_sink(xid, argument.len(), &mut room).unwrap();
    room.truncate(end);
    room
}

fn reply(xid: u32, answer: Answer) -> Vec<u8> {
    let mut room = [0; REPLY_ROOM];
    let end = write_reply(xid, answer, &mut room).unwrap();
    room[..end].to_vec()
}

/// The record with one word of its message replaced.
fn with(record: &[u8], word: usize, value: u32) -> Vec<u8> {
    let mut record = record.to_vec();
    let place = MARK_BYTES + 4 * word;
    record[place..place + 4].copy_from_slice(&value.to_be_bytes());
    record
}

/// The message as a record of one fragment.
fn record_of(message: &[u8]) -> Vec<u8> {
    let mut record = record::whole(message.len()).unwrap().to_vec();
    record.extend(message);
    record
}

fn random_bytes(random: &mut ChaCha8Rng, most: usize) -> Vec<u8> {
    let count = random.random_range(0..=most);
    (0..count).map(|_| random.random()).collect()
}

fn error_of(record: &[u8]) -> (Option<Answer>, String) {
    let refused = read_call(record).unwrap_err();
    assert_eq!(refused.error.kind(), io::ErrorKind::InvalidData);
    (refused.reply.map(|(_, answer)| answer), refused.error.to_string())
}

/// Words of a call by RFC 5531, section 9, written by hand.
#[test]
fn a_call_is_what_the_standard_says() {
    let words: [u32; 12] = [0x8000_0030, 9, 0, 2, PROGRAM, VERSION, SINK, 0, 0, 0, 0, 5];
    let mut wanted: Vec<u8> = words.iter().flat_map(|word| word.to_be_bytes()).collect();
    wanted[3] = 44 + 8;
    wanted.extend([1, 2, 3, 4, 5, 0, 0, 0]);
    assert_eq!(sink(9, &[1, 2, 3, 4, 5]), wanted);

    let mut room = [0; MARK_BYTES + CALL_BYTES];
    assert_eq!(write_null(9, &mut room).unwrap(), room.len());
    let words: [u32; 11] = [0x8000_0028, 9, 0, 2, PROGRAM, VERSION, NULL, 0, 0, 0, 0];
    assert_eq!(room.to_vec(), words.iter().flat_map(|word| word.to_be_bytes()).collect::<Vec<u8>>());
    assert_eq!(read_call(&room).unwrap(), Call { xid: 9, asked: Asked::Null });
}

#[test]
fn a_reply_is_what_the_standard_says() {
    let words: [u32; 7] = [0x8000_0018, 9, 1, 0, 0, 0, 0];
    assert_eq!(
        reply(9, Answer::Success),
        words.iter().flat_map(|word| word.to_be_bytes()).collect::<Vec<u8>>()
    );
    read_reply(&reply(9, Answer::Success), 9).unwrap();
}

#[test]
fn calls_and_replies_come_back() {
    for seed in 0..CASES {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let (argument, xid) = (random_bytes(&mut random, 64), random.random());
        let call = sink(xid, &argument);
        assert_eq!(call.len() % 4, 0);
        let read = read_call(&call).unwrap_or_else(|refused| panic!("seed {seed}: {}", refused.error));
        assert_eq!(read.xid, xid);
        let Asked::Sink(place) = read.asked else { panic!("seed {seed}: {:?}", read.asked) };
        assert_eq!(place.start, HEAD, "the argument stands where it was written");
        assert_eq!(call[place], argument, "seed {seed}");
        read_reply(&reply(xid, Answer::Success), xid).unwrap();
    }
}

/// Noise, and good messages with a few bytes altered, cut or added: an answer or an error, never a panic,
/// and never an argument outside the record.
#[test]
fn noise_is_refused_without_a_panic() {
    let mut understood = 0;
    for seed in 0..CASES {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let mut message = match random.random_range(0..4) {
            0 => random_bytes(&mut random, 100),
            1 => reply(7, Answer::Success)[MARK_BYTES..].to_vec(),
            _ => {
                let argument = random_bytes(&mut random, 40);
                sink(7, &argument)[MARK_BYTES..].to_vec()
            }
        };
        for _ in 0..random.random_range(0..4) {
            alter(&mut message, &mut random);
        }
        let record = record_of(&message);
        if let Ok(Call { asked: Asked::Sink(place), .. }) = read_call(&record) {
            assert!(place.start >= HEAD && place.end <= record.len(), "seed {seed}");
            understood += 1;
        }
        let _ = read_reply(&record, 7);
        let _ = read_call(&message);
        let _ = read_reply(&message, 7);
    }
    assert!(understood > CASES / 20, "only {understood} were understood: the noise is too much");
}

fn alter(message: &mut Vec<u8>, random: &mut ChaCha8Rng) {
    let place = random.random_range(0..=message.len());
    match random.random_range(0..4) {
        0 => message.truncate(place),
        1 => message.insert(place, random.random()),
        2 if place + 4 <= message.len() => {
            let words = [0, 1, 2, 3, 199, 200, 201, 400, 0x7fff_ffff, 0x8000_0000, 0xffff_fffc, 0xffff_ffff];
            let word: u32 = words[random.random_range(0..words.len())];
            message[place / 4 * 4..place / 4 * 4 + 4].copy_from_slice(&word.to_be_bytes());
        }
        _ if place < message.len() => message[place] = random.random(),
        _ => {}
    }
}

#[test]
fn a_call_for_somebody_else_is_told_so() {
    let call = sink(3, &[1, 2, 3, 4]);
    let cases = [
        (2, 3, Some(Answer::RpcMismatch), "not a call: invalid rpc version 3"),
        (3, 100_003, Some(Answer::ProgramUnavailable), "no program 0x186a3"),
        (4, 2, Some(Answer::ProgramMismatch), "no version 2 of the program"),
        (5, 2, Some(Answer::ProcedureUnavailable), "no procedure 2"),
        (5, 0, Some(Answer::GarbageArguments), "the null procedure got an argument"),
        (1, 2, None, "not a call: invalid rpc message type 2"),
    ];
    for (word, value, answer, text) in cases {
        assert_eq!(error_of(&with(&call, word, value)), (answer, text.to_owned()));
    }
    assert_eq!(read_call(&with(&call, 2, 3)).unwrap_err().reply, Some((3, Answer::RpcMismatch)));
}

#[test]
fn an_opaque_that_is_not_as_long_as_it_says_is_garbage() {
    const LENGTH: usize = 10;
    let call = sink(3, &[1, 2, 3, 4]);
    for claimed in [0, 5, 8, 0x7fff_ffff, 0x8000_0000, 0xffff_fffc, 0xffff_ffff] {
        let (answer, text) = error_of(&with(&call, LENGTH, claimed));
        assert_eq!(answer, Some(Answer::GarbageArguments));
        assert_eq!(text, format!("an opaque of {claimed} bytes, but 4 are there"));
    }
    // Three bytes with a padding that is not zero.
    assert_eq!(error_of(&with(&call, LENGTH, 3)).1, "the padding of an opaque is not zero");
    let bare = record_of(&call[MARK_BYTES..MARK_BYTES + CALL_BYTES]);
    assert_eq!(error_of(&bare).1, "an argument without a length");
}

#[test]
fn a_record_that_is_no_message_is_refused_without_a_reply() {
    for bytes in [0, 3, 4, 8, 39] {
        let call = sink(3, &[1, 2, 3, 4]);
        assert_eq!(error_of(&record_of(&call[MARK_BYTES..MARK_BYTES + bytes])).0, None, "{bytes} bytes");
    }
    assert_eq!(error_of(&reply(3, Answer::Success)), (None, "a reply came, not a call".into()));
    assert_eq!(error_of(&[]).0, None);
}

#[test]
fn the_argument_is_found_behind_longer_authentication() {
    let credentials = [5; 24];
    let argument = [0, 0, 0, 2, 8, 9, 0, 0];
    let call = CallBody::new(
        PROGRAM,
        VERSION,
        SINK,
        AuthFlavor::AuthShort(&credentials[..]),
        AuthFlavor::AuthNone(None),
        &argument[..],
    );
    let record = Message::new(1, MessageType::Call(call)).serialise().unwrap();
    let place = HEAD + credentials.len()..HEAD + credentials.len() + 2;
    assert_eq!(record[place.clone()], [8, 9]);
    assert_eq!(read_call(&record).unwrap(), Call { xid: 1, asked: Asked::Sink(place) });
}

#[test]
fn a_reply_that_is_not_success_is_an_error_that_says_why() {
    let cases = [
        (Answer::ProgramUnavailable, "the call was accepted and failed: ProgramUnavailable"),
        (Answer::ProgramMismatch, "the call was accepted and failed: ProgramMismatch { low: 1, high: 1 }"),
        (Answer::ProcedureUnavailable, "the call was accepted and failed: ProcedureUnavailable"),
        (Answer::GarbageArguments, "the call was accepted and failed: GarbageArgs"),
        (Answer::RpcMismatch, "the call was denied: RpcVersionMismatch { low: 2, high: 2 }"),
    ];
    for (answer, text) in cases {
        let error = read_reply(&reply(4, answer), 4).unwrap_err();
        assert_eq!((error.kind(), error.to_string()), (io::ErrorKind::InvalidData, text.to_owned()));
    }
}

#[test]
fn a_reply_to_another_call_or_with_a_result_is_refused() {
    let good = reply(4, Answer::Success);
    assert_eq!(read_reply(&good, 5).unwrap_err().to_string(), "the reply is to call 4, not to call 5");
    let mut longer = good[MARK_BYTES..].to_vec();
    longer.extend([0; 4]);
    let error = read_reply(&record_of(&longer), 4).unwrap_err();
    assert_eq!(error.to_string(), "the reply returns 4 bytes, not nothing");
    let error = read_reply(&sink(4, &[]), 4).unwrap_err();
    assert_eq!(error.to_string(), "a call came, not a reply");
    let error = read_reply(&with(&good, 2, 2), 4).unwrap_err();
    assert_eq!(error.to_string(), "not a reply: invalid rpc reply type 2");
    for bytes in 0..good.len() - MARK_BYTES {
        assert!(read_reply(&record_of(&good[MARK_BYTES..MARK_BYTES + bytes]), 4).is_err(), "{bytes} bytes");
    }
}
