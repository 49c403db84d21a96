package import Glibc

/// Starts operating-system threads, for loops that block.
package enum NativeThread {
    /// Starts a thread that receives no signals (the main thread handles those) and runs `body`.
    ///
    /// `top -H` shows the name, at most 15 bytes of it. The caller must join the thread.
    package static func start(
        name: String,
        _ body: @escaping @Sendable () -> Void
    ) -> Result<pthread_t, ThreadError> {
        var all = sigset_t()
        var before = sigset_t()
        unsafe sigfillset(&all)
        unsafe pthread_sigmask(SIG_BLOCK, &all, &before)
        defer { unsafe pthread_sigmask(SIG_SETMASK, &before, nil) }
        let held = unsafe Unmanaged.passRetained(ThreadWork(name: name, body: body))
        var thread = pthread_t()
        let code = unsafe pthread_create(
            &thread,
            nil,
            { argument in
                guard let argument = unsafe argument else { return nil }
                unsafe Unmanaged<ThreadWork>.fromOpaque(argument).takeRetainedValue().run()
                return nil
            },
            unsafe held.toOpaque()
        )
        guard code == 0 else {
            unsafe held.release()
            return .failure(ThreadError(code: code))
        }
        return .success(thread)
    }
}

private final class ThreadWork: Sendable {
    let name: String
    let body: @Sendable () -> Void

    init(name: String, body: @escaping @Sendable () -> Void) {
        self.name = name
        self.body = body
    }

    func run() {
        takeName()
        body()
    }

    /// Sets the name through a file, because the Glibc module lacks `pthread_setname_np`.
    private func takeName() {
        let file = unsafe open("/proc/thread-self/comm", O_WRONLY | O_CLOEXEC)
        guard file >= 0 else { return }
        // A thread without a name works equally well.
        _ = unsafe Array(name.utf8.prefix(15)).withUnsafeBytes {
            unsafe write(file, $0.baseAddress, $0.count)
        }
        close(file)
    }
}

/// The system could not start a thread.
package struct ThreadError: Error, Equatable, CustomStringConvertible {
    package let code: CInt

    package init(code: CInt) { self.code = code }

    package var description: String {
        unsafe "no thread can be started: \(String(cString: strerror(code)))"
    }
}
