package import Base
package import Commands
import Manifest
import Store

/// The images of rollouts that have begun and are not over, whatever their manifests contain by
/// now.
package enum OpenRollouts {
    /// The images that modules owe, whatever has become of the rollouts that began them: a module in its bootloader
    /// needs its one.
    package static func owed(in state: String) throws(CommandError) -> Set<SHA256Digest> {
        do throws(JournalError) {
            return try JournalReader(directory: state).read { view throws(JournalError) in
                Set(try view.debts().map(\.image))
            }
        } catch {
            guard error.kind != .missing else { return [] }
            throw CommandError(error)
        }
    }

    /// The images of their frozen plans, by the rollouts' names.
    package static func images(in state: String) throws(CommandError) -> [String: [SHA256Digest]] {
        let archive = PlanArchive(state: state)
        var images: [String: [SHA256Digest]] = [:]
        for name in archive.names {
            let record: RolloutRecord?
            do throws(JournalError) {
                record = try JournalReader(directory: state).read { view throws(JournalError) in
                    try view.rollout(name)
                }
            } catch {
                guard error.kind != .missing else { return [:] }
                // Without a readable journal nothing may be removed.
                throw CommandError(error)
            }
            guard let record, record.hold?.kind.isForGood != true,
                record.hold != nil || record.state != .finished
            else { continue }
            images[name] = archive.plan(record.plan, of: name)?.images.map(\.digest) ?? []
        }
        return images
    }
}
