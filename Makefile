# Two commands do everything: `make report` runs the main job, `make test` passes the tests.
# They need a Rust toolchain, a C linker and make.

CARGO ?= cargo

.PHONY: report test check docs yardstick clean

# Builds, runs the default matrix, prints its tables and writes a folder under reports/.
report:
	$(CARGO) build --release --locked
	$${CARGO_TARGET_DIR:-target}/release/ipcmatrix run appendix

# Every test. What the machine cannot do is shown as ignored.
test:
	$(CARGO) test --locked

# What must hold before a commit: format, lints (those of the doors too, which only Solaris and illumos
# have), tests, documentation.
check:
	$(CARGO) fmt --check
	$(CARGO) clippy --locked --all-targets -- -D warnings
	$(CARGO) clippy --locked --lib -- -D warnings --cfg ipcmatrix_check_doors
	$(MAKE) test
	$(MAKE) docs

# Documentation, with a warning as an error.
docs:
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --locked --no-deps --document-private-items

# Our cells against plain C programs, in alternation. A benchmark, not a test; needs a C compiler.
yardstick:
	$(CARGO) bench --locked --bench yardstick

clean:
	$(CARGO) clean
