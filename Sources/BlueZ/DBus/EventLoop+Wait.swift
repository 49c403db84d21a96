extension EventLoop {
    /// Returns after this time, or as soon as the task is cancelled.
    package func wait(for time: Duration) async {
        guard time > .zero else { return }
        // A cancelled task ends the stream immediately.
        let bell = AsyncStream<Void> { continuation in
            perform { [self] in
                let timer = schedule(after: time) { continuation.finish() }
                continuation.onTermination = { end in
                    guard case .cancelled = end else { return }
                    self.perform { self.cancel(timer) }
                }
            }
        }
        for await _ in bell {}
    }
}
