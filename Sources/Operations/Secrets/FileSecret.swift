import Base
package import Families
import Radio
package import Rollout
package import Store

/// The secret of a vehicle in service, as a file that can be replaced.
package struct FileSecret: SecretKeeper {
    private let files: SecretFiles

    /// `others` are the other vehicles that name this file.
    package init(_ file: OutsideFile, sharedWith others: KeySharers) {
        files = SecretFiles(file, maker: nil, sharedWith: others)
    }

    package func hasOpenChange(_ journal: Journal) async -> Bool {
        let known = try? await SecretFileKeeper(files, journal).secrets()
        return known?[.pending] != nil
    }

    package func change(
        _ module: ModuleInHand,
        isNew: Bool,
        _ journal: Journal
    ) async throws(SecretChangeFault) -> ModuleOpener {
        let keeper = SecretFileKeeper(files, journal)
        let target = EnrolTarget(
            vehicle: module.vehicle,
            serial: module.serial,
            profile: module.profile,
            bond: module.bond
        )
        let enroller = Enroller(
            target,
            keeper: keeper,
            central: module.central,
            time: module.time,
            searchingFor: module.search,
            chance: module.chance,
            unless: module.isStopped
        )
        do throws(EnrolFault) {
            let record = try await enroller.enrol(rotating: isNew)
            try await keeper.keep(record)
            let secret = try await keeper.secrets()[.current]
            do throws(ModuleSecretError) {
                return try FamilyRegistry.opener(of: module.profile.family, secret)
            } catch { throw EnrolFault(.failed, "\(error)", hint: "", failure: .internal) }
        } catch {
            switch error.kind {
            case .notHeard: throw SecretChangeFault(.unreachable, error.sentence)
            case .files: throw SecretChangeFault(nil, error.sentence)
            case .failed, .refused:
                throw SecretChangeFault(error.failure ?? .transient, error.sentence)
            }
        }
    }
}

/// The files of a vehicle's secret, on the executor of the journal; the vehicle's row in the fleet
/// list is not changed.
private actor SecretFileKeeper: EnrolmentKeeper {
    nonisolated var unownedExecutor: UnownedSerialExecutor { journal.unownedExecutor }

    private let files: SecretFiles
    private let journal: Journal

    init(_ files: SecretFiles, _ journal: Journal) {
        self.files = files
        self.journal = journal
    }

    func secrets() throws(EnrolFault) -> [SecretSlot: Secret] { try files.secrets() }
    func keepPending(_ secret: Secret) throws(EnrolFault) { try files.keepPending(secret) }
    func commit() throws(EnrolFault) { try files.commit() }
    func retire() throws(EnrolFault) { try files.retire() }
    func list(_ isListed: Bool) {}
    func note(_ stage: EnrolmentRecord.Stage) {}

    func keep(_ record: InventoryRecord) async throws(EnrolFault) {
        do throws(JournalError) { try await journal.keep([record]) } catch {
            throw EnrolFault(.files, error.description, hint: "")
        }
    }
}
