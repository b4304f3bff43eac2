//! The front end of CPython workers: real interpreters that only compile.
//!
//! A *worker* is a long-lived process of one interpreter (`python -I -S`) that runs `worker.py`: starting one process per
//! file would cost more than ten times the compilation. It first *greets* with its version and magic number, and is
//! refused if they are not those that were asked for. Each thread has a worker of its own.
//!
//! A worker that dies (deep nesting can crash an interpreter) or does not answer within a safety limit costs the file it
//! had, which gets a diagnostic; the next file gets a new worker.

use crate::interpreter::{Interpreter, InterpreterError, PythonSpec};
use crate::source::decode;
use crate::{CompileResult, Compiler, Frontend, SourceFile, diagnostic_at_character};
use hognose_base::{Diagnostic, DiagnosticKind};
use hognose_pyc::{PythonVersion, identify_magic, read_marshal};
use std::io::{self, Read, Write};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

const SCRIPT: &str = include_str!("worker.py");
const GREETING: &[u8; 8] = b"HOGNOSE1";
/// An answer with more bytes than this is not believed.
const MAX_ANSWER: u32 = 1 << 30;
/// After so many workers in a row that did not even greet, a thread gives up.
const MAX_FAILED_STARTS: u32 = 3;

/// Limits of the workers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CPythonConfig {
    /// How long one file may take. A safety net, not a budget: nothing that compiles comes near it.
    pub file_timeout: Duration,
    /// How long an interpreter may take to start.
    pub start_timeout: Duration,
}

impl Default for CPythonConfig {
    fn default() -> Self {
        Self {
            file_timeout: Duration::from_secs(120),
            start_timeout: Duration::from_secs(30),
        }
    }
}

/// Workers of one interpreter.
#[derive(Debug)]
pub struct CPython {
    interpreter: Interpreter,
    greeting: Greeting,
    config: CPythonConfig,
    /// The worker whose greeting was checked, until a thread takes it.
    first: Mutex<Option<Worker>>,
}

/// What a worker says about itself.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Greeting {
    version: PythonVersion,
    magic: u16,
    implementation: String,
}

impl CPython {
    /// Finds an interpreter and starts its first worker.
    ///
    /// # Errors
    /// If there is none, or none that is what was asked for; then the reason is that of the best candidate.
    pub fn start(spec: &PythonSpec, config: CPythonConfig) -> Result<Self, InterpreterError> {
        let mut refused = None;
        for interpreter in spec.candidates() {
            match Worker::start(&interpreter, config.start_timeout) {
                Ok((worker, greeting)) => {
                    return Ok(Self {
                        interpreter,
                        greeting,
                        config,
                        first: Mutex::new(Some(worker)),
                    });
                }
                Err(reason) => {
                    let path = interpreter.executable.display().to_string();
                    refused.get_or_insert(InterpreterError::Refused { path, reason });
                }
            }
        }
        Err(refused.unwrap_or_else(|| match spec {
            PythonSpec::Version(version) => InterpreterError::NotFound(*version),
            PythonSpec::Executable(path) | PythonSpec::Environment(path) => {
                InterpreterError::Unknown(path.display().to_string())
            }
        }))
    }
}

impl Frontend for CPython {
    fn version(&self) -> PythonVersion {
        self.greeting.version
    }
    fn name(&self) -> String {
        format!("python{}", self.greeting.version)
    }
    fn compiler(&self) -> Box<dyn Compiler + '_> {
        let worker = self.first.lock().ok().and_then(|mut first| first.take());
        Box::new(WorkerCompiler {
            front: self,
            worker,
            failed_starts: 0,
        })
    }
}

/// One thread's use of a worker.
struct WorkerCompiler<'f> {
    front: &'f CPython,
    worker: Option<Worker>,
    failed_starts: u32,
}

impl Compiler for WorkerCompiler<'_> {
    fn compile(&mut self, source: &SourceFile) -> CompileResult {
        let mut worker = match self.take_worker() {
            Ok(worker) => worker,
            Err(reason) => return failed(source, DiagnosticKind::Worker, reason),
        };
        match worker.ask(source, self.front.config.file_timeout) {
            Ok(answer) => {
                self.worker = Some(worker);
                self.result(source, answer)
            }
            Err(failure) => failed(source, DiagnosticKind::Worker, worker.post_mortem(&failure)),
        }
    }
}

impl WorkerCompiler<'_> {
    fn take_worker(&mut self) -> Result<Worker, String> {
        if let Some(worker) = self.worker.take() {
            return Ok(worker);
        }
        if self.failed_starts >= MAX_FAILED_STARTS {
            return Err(format!("{} does not start any more", self.front.name()));
        }
        match Worker::start(&self.front.interpreter, self.front.config.start_timeout) {
            Ok((_, greeting)) if greeting != self.front.greeting => {
                self.failed_starts = MAX_FAILED_STARTS;
                Err("the interpreter has been replaced by another version".to_owned())
            }
            Ok((worker, _)) => {
                self.failed_starts = 0;
                Ok(worker)
            }
            Err(reason) => {
                self.failed_starts += 1;
                Err(reason)
            }
        }
    }

    fn result(&self, source: &SourceFile, answer: Answer) -> CompileResult {
        let (kind, line, character, message) = match answer {
            Answer::Compiled(bytes) => {
                return match read_marshal(bytes.into(), self.front.greeting.version) {
                    Ok(module) => CompileResult {
                        module: Some(module),
                        diagnostics: Vec::new(),
                    },
                    Err(error) => {
                        let reason = format!("the code that {} made cannot be read: {error}", self.front.name());
                        failed(source, DiagnosticKind::Compile, reason)
                    }
                };
            }
            Answer::Refused {
                kind,
                line,
                character,
                message,
            } => (kind, line, character, message),
        };
        let text = decode(&source.bytes).ok();
        let place = (line, character);
        CompileResult::failed(diagnostic_at_character(
            &source.path,
            kind,
            message,
            text.as_deref(),
            place,
        ))
    }
}

fn failed(source: &SourceFile, kind: DiagnosticKind, reason: String) -> CompileResult {
    CompileResult::failed(Diagnostic::error(&source.path, kind, reason))
}

/// What a worker made of a file.
#[derive(Debug)]
enum Answer {
    Compiled(Vec<u8>),
    Refused {
        kind: DiagnosticKind,
        line: u32,
        character: u32,
        message: String,
    },
}

/// Why a worker did not answer.
#[derive(Debug)]
enum Failure {
    /// Its pipe broke, or it did not keep to the protocol.
    Broken(String),
    TimedOut(Duration),
}

/// A worker process. A thread of its own talks to it, because a read from a pipe cannot be given a time limit.
#[derive(Debug)]
struct Worker {
    child: Child,
    requests: Sender<Vec<u8>>,
    answers: Receiver<io::Result<Answer>>,
}

impl Worker {
    /// Starts a worker and checks its greeting.
    fn start(interpreter: &Interpreter, timeout: Duration) -> Result<(Self, Greeting), String> {
        let mut child = Command::new(&interpreter.executable)
            .args(["-I", "-S", "-B", "-W", "ignore", "-c", SCRIPT])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|error| format!("cannot be started: {error}"))?;
        let (greeting_sender, greetings) = channel();
        let (requests, request_receiver) = channel();
        let (answer_sender, answers) = channel();
        let pipes = (child.stdin.take(), child.stdout.take());
        let talk = std::thread::Builder::new()
            .name("hognose-worker".to_owned())
            .spawn(move || {
                let (Some(stdin), Some(stdout)) = pipes else { return };
                talk(stdin, stdout, &greeting_sender, &request_receiver, &answer_sender);
            });
        let mut worker = Self {
            child,
            requests,
            answers,
        };
        talk.map_err(|error| format!("no thread for the worker: {error}"))?;
        let greeting = match greetings.recv_timeout(timeout) {
            Ok(Ok(greeting)) => greeting,
            Ok(Err(error)) => return Err(worker.post_mortem(&Failure::Broken(error.to_string()))),
            Err(RecvTimeoutError::Timeout) => return Err(worker.post_mortem(&Failure::TimedOut(timeout))),
            Err(RecvTimeoutError::Disconnected) => return Err("the worker went away".to_owned()),
        };
        greeting.check(interpreter.version)?;
        Ok((worker, greeting))
    }

    fn ask(&self, source: &SourceFile, timeout: Duration) -> Result<Answer, Failure> {
        let request = request(source).map_err(|error| Failure::Broken(error.to_string()))?;
        let gone = || Failure::Broken("the worker went away".to_owned());
        self.requests.send(request).map_err(|_| gone())?;
        match self.answers.recv_timeout(timeout) {
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(error)) => Err(Failure::Broken(error.to_string())),
            Err(RecvTimeoutError::Timeout) => Err(Failure::TimedOut(timeout)),
            Err(RecvTimeoutError::Disconnected) => Err(gone()),
        }
    }

    /// Ends the process and says what happened.
    fn post_mortem(&mut self, failure: &Failure) -> String {
        let reason = match failure {
            Failure::TimedOut(limit) => return format!("the worker did not answer within {limit:?} and was stopped"),
            Failure::Broken(reason) => reason,
        };
        // A pipe breaks a moment before its process is gone; only then is there a status.
        let deadline = Instant::now() + Duration::from_millis(500);
        while Instant::now() < deadline {
            match self.child.try_wait() {
                Ok(Some(status)) => return describe(status, reason),
                Ok(None) => std::thread::sleep(Duration::from_millis(5)),
                Err(_) => break,
            }
        }
        format!("the worker does not keep to the protocol: {reason}")
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        // Both fail only when the process is gone already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Greeting {
    /// Refuses what was not asked for and what cannot be read.
    fn check(&self, wanted: Option<PythonVersion>) -> Result<(), String> {
        let Self {
            version,
            magic,
            implementation,
        } = self;
        if implementation != "cpython" {
            return Err(format!("it is {implementation} {version}, not CPython"));
        }
        if let Some(wanted) = wanted
            && wanted != *version
        {
            return Err(format!("it is Python {version}, not {wanted}"));
        }
        if !version.is_supported() {
            return Err(format!("Python {version} is not supported"));
        }
        let known = identify_magic(*magic);
        if known.readable_version() != Some(*version) {
            return Err(format!("it is Python {version}, but its code would be {known}"));
        }
        Ok(())
    }
}

fn describe(status: ExitStatus, reason: &str) -> String {
    format!("the worker died ({status}): {reason}")
}

/// The thread of a worker: passes requests and answers until one side is gone.
fn talk(
    mut stdin: impl Write,
    mut stdout: impl Read,
    greetings: &Sender<io::Result<Greeting>>,
    requests: &Receiver<Vec<u8>>,
    answers: &Sender<io::Result<Answer>>,
) {
    let greeting = read_greeting(&mut stdout);
    let greeted = greeting.is_ok();
    if greetings.send(greeting).is_err() || !greeted {
        return;
    }
    while let Ok(request) = requests.recv() {
        let answer = stdin
            .write_all(&request)
            .and_then(|()| stdin.flush())
            .and_then(|()| read_answer(&mut stdout));
        let broken = answer.is_err();
        if answers.send(answer).is_err() || broken {
            return;
        }
    }
}

fn request(source: &SourceFile) -> io::Result<Vec<u8>> {
    let mut request = Vec::with_capacity(source.filename.len() + source.bytes.len() + 8);
    for part in [source.filename.as_bytes(), &source.bytes] {
        let length = u32::try_from(part.len()).map_err(|_| io::Error::other("the file is too large"))?;
        request.extend(length.to_le_bytes());
        request.extend(part);
    }
    Ok(request)
}

fn read_greeting(stdout: &mut impl Read) -> io::Result<Greeting> {
    let mut head = [0; 12];
    stdout.read_exact(&mut head)?;
    let [.., major, minor, low, high] = head;
    if !head.starts_with(GREETING) {
        return Err(io::Error::other("an unknown greeting"));
    }
    let implementation = String::from_utf8_lossy(&read_string(stdout)?).into_owned();
    Ok(Greeting {
        version: PythonVersion { major, minor },
        magic: u16::from_le_bytes([low, high]),
        implementation,
    })
}

fn read_answer(stdout: &mut impl Read) -> io::Result<Answer> {
    let mut status = [0];
    stdout.read_exact(&mut status)?;
    let kind = match status[0] {
        0 => return Ok(Answer::Compiled(read_string(stdout)?)),
        1 => DiagnosticKind::Syntax,
        2 => DiagnosticKind::Encoding,
        3 => DiagnosticKind::Compile,
        _ => return Err(io::Error::other("an unknown answer")),
    };
    let (line, character) = (read_number(stdout)?, read_number(stdout)?);
    let message = String::from_utf8_lossy(&read_string(stdout)?).into_owned();
    Ok(Answer::Refused {
        kind,
        line,
        character,
        message,
    })
}

fn read_number(stdout: &mut impl Read) -> io::Result<u32> {
    let mut bytes = [0; 4];
    stdout.read_exact(&mut bytes)?;
    Ok(u32::from_le_bytes(bytes))
}

/// Reads as much as there is: the length is not trusted with an allocation.
fn read_string(stdout: &mut impl Read) -> io::Result<Vec<u8>> {
    let length = read_number(stdout)?;
    if length > MAX_ANSWER {
        return Err(io::Error::other("an answer of impossible length"));
    }
    let mut bytes = Vec::new();
    stdout.take(u64::from(length)).read_to_end(&mut bytes)?;
    if bytes.len() < length as usize {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(bytes)
}
