/// Takes one answer, on the thread of the loop: what it does there must be short.
protocol ResponseTaker: Sendable {
    /// Sees the head of the answer that counts, once, before any of its bytes.
    func begin(_ head: ResponseHead) -> DownloadError?
    func take(_ bytes: UnsafeRawBufferPointer) -> Taking
    /// Asked for by `Exchange.flush`: passes on what is held back.
    func flush()
    /// Nothing comes any more.
    func end()
}

/// What became of some bytes.
enum Taking {
    case taken
    /// Not one was taken: they come again after `Exchange.goOn`.
    case later
    case refused(DownloadError)
}
