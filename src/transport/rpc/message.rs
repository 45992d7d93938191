//! Calls and replies of our program. RFC 5531, section 9; their arguments by RFC 4506, section 4.10.
//!
//! Headers are made and read by the crate `onc-rpc`, whose messages begin with a record mark: over UDP
//! the mark stands in the buffer, too, and is not sent.

use super::record::{self, MARK_BYTES};
use onc_rpc::auth::AuthFlavor;
use onc_rpc::{AcceptedReply, AcceptedStatus, CallBody, MessageType, RejectedReply, ReplyBody, RpcMessage};
use std::io;
use std::ops::Range;

/// Our program, in the range that is left to users. RFC 5531, section 8.1.
pub const PROGRAM: u32 = 0x2000_69dc;
/// Its version.
pub const VERSION: u32 = 1;
/// Takes and returns nothing.
pub const NULL: u32 = 0;
/// Takes `opaque<>` and returns nothing.
pub const SINK: u32 = 1;

/// The version of RPC itself.
const RPC_VERSION: u32 = 2;
/// Bytes of a call before its argument: six words and two empty authentication fields of two.
pub const CALL_BYTES: usize = 4 * (6 + 2 * 2);
/// Bytes of the word that tells how long an opaque is.
pub const LENGTH_BYTES: usize = 4;
/// Most bytes of one authentication field. RFC 5531, section 8.2.
pub const MOST_AUTH_BYTES: usize = 400;
/// Room for any reply of ours or to ours, its mark and the mark of a further fragment.
pub const REPLY_ROOM: usize = 2 * MARK_BYTES + 4 * 8 + MOST_AUTH_BYTES;

/// XDR comes in words of this many bytes.
const WORD_BYTES: usize = 4;

type Message<'a> = RpcMessage<&'a [u8], &'a [u8]>;

/// Bytes that an opaque of `bytes` takes, without its length.
pub const fn padded(bytes: usize) -> usize {
    bytes.next_multiple_of(WORD_BYTES)
}

/// Writes the call of [`NULL`] into the room, which has its bytes and a mark.
///
/// # Errors
/// `WriteZero` where the room is too short.
pub fn write_null(xid: u32, room: &mut [u8]) -> io::Result<usize> {
    write_call(xid, NULL, &[], room)?;
    Ok(MARK_BYTES + CALL_BYTES)
}

/// Writes the call of [`SINK`] around the argument of `bytes` that already stands in the room, behind a
/// mark, a call and a length, with place for its padding. Returns the bytes of the whole record.
///
/// # Errors
/// `InvalidInput` where the argument is too long for a record; `WriteZero` where the room is too short.
pub fn write_sink(xid: u32, bytes: usize, room: &mut [u8]) -> io::Result<usize> {
    let too_long = || io::Error::new(io::ErrorKind::InvalidInput, "too long for one record");
    let length = u32::try_from(bytes).map_err(|_| too_long())?;
    write_call(xid, SINK, &length.to_be_bytes(), room)?;
    let message_bytes = CALL_BYTES + LENGTH_BYTES + padded(bytes);
    room[..MARK_BYTES].copy_from_slice(&record::whole(message_bytes).ok_or_else(too_long)?);
    let end = MARK_BYTES + message_bytes;
    let padding = room.get_mut(end - (padded(bytes) - bytes)..end).ok_or(io::ErrorKind::WriteZero)?;
    padding.fill(0);
    Ok(end)
}

fn write_call(xid: u32, procedure: u32, argument: &[u8], room: &mut [u8]) -> io::Result<()> {
    let none = AuthFlavor::AuthNone(None);
    let call = CallBody::new(PROGRAM, VERSION, procedure, none.clone(), none, argument);
    Message::new(xid, MessageType::Call(call)).serialise_into(room)
}

/// What a call asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Asked {
    /// [`NULL`].
    Null,
    /// [`SINK`]; where in the record its argument stands.
    Sink(Range<usize>),
}

/// A call that was understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// The number that its reply must carry.
    pub xid: u32,
    /// What it asks for.
    pub asked: Asked,
}

/// A call that was not.
#[derive(Debug)]
pub struct Refused {
    /// The reply that it gets; `None` where it is no call at all.
    pub reply: Option<(u32, Answer)>,
    /// What is wrong with it, `InvalidData`.
    pub error: io::Error,
}

/// What a server replies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Accepted and done, nothing returned.
    Success,
    /// The program is not ours.
    ProgramUnavailable,
    /// The version is not ours.
    ProgramMismatch,
    /// No such procedure.
    ProcedureUnavailable,
    /// The argument cannot be decoded.
    GarbageArguments,
    /// Denied: another version of RPC.
    RpcMismatch,
}

/// Reads a call from a record, its mark included.
///
/// # Errors
/// What is wrong with it and the reply that it gets.
pub fn read_call(record: &[u8]) -> Result<Call, Refused> {
    let refuse = |reply, text: String| Refused { reply, error: invalid(text) };
    let message = Message::try_from(record).map_err(|error| {
        let version = matches!(error, onc_rpc::Error::InvalidRpcVersion(_));
        let xid =
            record.get(MARK_BYTES..).and_then(|rest| rest.first_chunk()).map(|xid| u32::from_be_bytes(*xid));
        let reply = xid.filter(|_| version).map(|xid| (xid, Answer::RpcMismatch));
        refuse(reply, format!("not a call: {error}"))
    })?;
    let xid = message.xid();
    let call = message.call_body().ok_or_else(|| refuse(None, "a reply came, not a call".into()))?;
    let argument = call.payload();
    let wrong = |answer, text| Err(refuse(Some((xid, answer)), text));
    match (call.program(), call.program_version(), call.procedure()) {
        (PROGRAM, VERSION, NULL) if argument.is_empty() => Ok(Call { xid, asked: Asked::Null }),
        (PROGRAM, VERSION, SINK) => match opaque(argument) {
            Ok(bytes) => {
                let start = record.len() - argument.len() + LENGTH_BYTES;
                Ok(Call { xid, asked: Asked::Sink(start..start + bytes) })
            }
            Err(text) => wrong(Answer::GarbageArguments, text),
        },
        (PROGRAM, VERSION, NULL) => {
            wrong(Answer::GarbageArguments, "the null procedure got an argument".into())
        }
        (PROGRAM, VERSION, other) => wrong(Answer::ProcedureUnavailable, format!("no procedure {other}")),
        (PROGRAM, other, _) => wrong(Answer::ProgramMismatch, format!("no version {other} of the program")),
        (other, ..) => wrong(Answer::ProgramUnavailable, format!("no program {other:#x}")),
    }
}

/// The length of the one `opaque<>` that an argument is. RFC 4506, section 4.10.
fn opaque(argument: &[u8]) -> Result<usize, String> {
    let (length, rest) =
        argument.split_first_chunk::<LENGTH_BYTES>().ok_or("an argument without a length")?;
    let bytes = u32::from_be_bytes(*length) as usize;
    if bytes.checked_next_multiple_of(WORD_BYTES) != Some(rest.len()) {
        return Err(format!("an opaque of {bytes} bytes, but {} are there", rest.len()));
    }
    match rest[bytes..].iter().all(|byte| *byte == 0) {
        true => Ok(bytes),
        false => Err("the padding of an opaque is not zero".into()),
    }
}

/// Writes a reply into the room and returns the bytes of the record.
///
/// # Errors
/// `WriteZero` where the room is shorter than [`REPLY_ROOM`].
pub fn write_reply(xid: u32, answer: Answer, room: &mut [u8]) -> io::Result<usize> {
    let accepted = |status| ReplyBody::Accepted(AcceptedReply::new(AuthFlavor::AuthNone(None), status));
    let body = match answer {
        Answer::Success => accepted(AcceptedStatus::Success(&[][..])),
        Answer::ProgramUnavailable => accepted(AcceptedStatus::ProgramUnavailable),
        Answer::ProgramMismatch => accepted(AcceptedStatus::ProgramMismatch { low: VERSION, high: VERSION }),
        Answer::ProcedureUnavailable => accepted(AcceptedStatus::ProcedureUnavailable),
        Answer::GarbageArguments => accepted(AcceptedStatus::GarbageArgs),
        Answer::RpcMismatch => {
            ReplyBody::Denied(RejectedReply::RpcVersionMismatch { low: RPC_VERSION, high: RPC_VERSION })
        }
    };
    let message = Message::new(xid, MessageType::Reply(body));
    message.serialise_into(room)?;
    Ok(message.serialised_len() as usize)
}

/// Reads the reply to call `xid` from a record, its mark included: it must be accepted, done, and return nothing.
///
/// # Errors
/// `InvalidData` with what else it is.
pub fn read_reply(record: &[u8], xid: u32) -> io::Result<()> {
    let message = Message::try_from(record).map_err(|error| invalid(format!("not a reply: {error}")))?;
    if message.xid() != xid {
        return Err(invalid(format!("the reply is to call {}, not to call {xid}", message.xid())));
    }
    let reply = message.reply_body().ok_or_else(|| invalid("a call came, not a reply".into()))?;
    match reply {
        ReplyBody::Accepted(accepted) => match accepted.status() {
            AcceptedStatus::Success([]) => Ok(()),
            AcceptedStatus::Success(result) => {
                Err(invalid(format!("the reply returns {} bytes, not nothing", result.len())))
            }
            failed => Err(invalid(format!("the call was accepted and failed: {failed:?}"))),
        },
        ReplyBody::Denied(denied) => Err(invalid(format!("the call was denied: {denied:?}"))),
    }
}

fn invalid(text: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, text)
}

#[cfg(test)]
mod tests;
