package import Base
package import Commands

extension ThreadExecutor {
    /// A thread for one part of a command's work.
    package static func working(_ name: String) throws(CommandError) -> ThreadExecutor {
        do throws(ThreadError) {
            return try start(name: name)
        } catch {
            throw CommandError(.unavailable, "no thread for the run", because: [error.description])
        }
    }
}
