/// Takes one answer on the thread of the loop: its work there must be short.
protocol ResponseTaker: Sendable {
    /// Called once with the head of the final answer, before any of its bytes.
    func begin(_ head: ResponseHead) -> DownloadError?
    func take(_ bytes: UnsafeRawBufferPointer) -> Taking
    /// Called by `Exchange.flush`: passes on held-back bytes.
    func flush()
    /// No further bytes arrive.
    func end()
}

/// The result of taking bytes.
enum Taking {
    case taken
    /// No byte was taken: they arrive again after `Exchange.goOn`.
    case later
    case refused(DownloadError)
}
