package import Base

/// What is kept and reported of an update, and the conditions that only its owner knows.
package protocol UpdateNotes: AnyObject {
    associatedtype Halt: Error

    /// Called before each action: `session.memory` must outlive the process.
    func keep(_ session: UpdateSession) async throws(Halt)

    /// Called before the module restarts into another program.
    func checkAgain() async throws(Halt)

    /// A part of the image, or the rest of one, is about to be sent.
    func begins(_ part: Int)

    /// The module has received more of the part.
    func progressed(
        _ heard: UploadProgress,
        _ session: UpdateSession
    ) async throws(Halt)

    /// Whether the module is healthy with its new image; the time for that ends at `deadline`.
    func health(
        on application: any ModuleApplication,
        before deadline: Moment?
    ) async throws(ModuleError) -> UpdateSession.Health

    /// The last call of the update.
    func close(_ ending: UpdateEnding, _ session: UpdateSession) async throws(Halt)
}
