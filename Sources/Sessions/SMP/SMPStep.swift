import Domain
import Wire

/// What an update remembers between two looks at the module; all else the module knows itself.
package struct SMPMemory: Equatable, Sendable {
    /// The module was told to restart into images that were marked.
    package var hasRestarted = false
    /// All of these images' bytes have been sent.
    package var uploaded: Set<Int> = []
    /// Taken up in the middle, on the module's word that it has the beginning.
    package var resumed: Set<Int> = []
    /// These are sent as a whole, since what the module had of them was no good.
    package var anew: Set<Int> = []
    /// What was in these images' slots was removed.
    package var erased: Set<Int> = []
    package var isHealthy: Bool?
    var restarts = 0
    package var clearings = 0
    var confirmations = 0
    /// The module said that confirming is no business of its.
    var confirmsNothing = false
    var hasActed = false

    package init() {}
}

/// The next thing to be done about an update, decided from what the module has just told.
package enum SMPStep: Equatable, Sendable {
    package enum Purpose: Equatable, Sendable {
        /// Into the images that are marked.
        case install
        /// Out of an image that somebody left unconfirmed.
        case clear
        /// Out of the new image, which is not healthy.
        case takeBack
    }

    case erase(image: Int, slot: Int)
    case upload(part: Int, candidate: Int, uploadID: Int)
    case mark(hash: [UInt8], isConfirmed: Bool)
    case restart(Purpose)
    case checkHealth
    case confirm(hash: [UInt8]?)
    case done
    case fail(SMPUpdateError)

    private static let restartLimit = 3
    private static let confirmationLimit = 3

    package static func next(_ goal: SMPGoal, _ found: SMPFindings, _ memory: SMPMemory) -> SMPStep
    {
        let standings = goal.parts.map { SMPStanding($0, in: found.list) }
        if standings.allSatisfy(\.isRunning) { return conclude(goal, found, memory, standings) }
        if memory.isHealthy == false {
            return .fail(.takenBack)
        }
        if memory.hasRestarted { return judge(goal, found, memory, standings) }
        return prepare(goal, found, memory, standings)
    }

    /// What is to be done first about one image of the goal that the module lacks.
    package static func next(
        _ goal: SMPGoal,
        _ found: SMPFindings,
        _ memory: SMPMemory,
        bringing image: Int
    ) -> SMPStep {
        guard let index = goal.parts.firstIndex(where: { $0.image == image }) else {
            return .done
        }
        return bring(goal.parts[index], index, goal, found, memory)
    }

    // MARK: Before the restart

    private static func prepare(
        _ goal: SMPGoal,
        _ found: SMPFindings,
        _ memory: SMPMemory,
        _ standings: [SMPStanding]
    ) -> SMPStep {
        for (index, part) in goal.parts.enumerated() where standings[index] == .absent {
            return bring(part, index, goal, found, memory)
        }
        for (part, standing) in zip(goal.parts, standings) {
            guard case .staged(let staged) = standing else { continue }
            if let error = obstacle(to: staged, of: part, found) { return .fail(error) }
            let isMarked = staged.flags.contains(.pending) || staged.flags.contains(.permanent)
            if found.isMarked, !isMarked, let hash = staged.hash {
                return .mark(hash: hash, isConfirmed: !part.canRevert)
            }
        }
        return .restart(.install)
    }

    /// Gets a part into its slot.
    private static func bring(
        _ part: SMPGoal.Part,
        _ index: Int,
        _ goal: SMPGoal,
        _ found: SMPFindings,
        _ memory: SMPMemory
    ) -> SMPStep {
        let image = part.image
        let active = found.list.active(image)
        let slot = active.map { 1 - min($0.slot, 1) } ?? 1
        if found.canRevert, isOccupied(image, found.list) {
            return memory.clearings < restartLimit ? .restart(.clear) : .fail(.occupied)
        }
        if memory.uploaded.contains(image) {
            guard !memory.erased.contains(image) else { return .fail(.notListed(image: image)) }
            return .erase(image: image, slot: 2 * image + slot)
        }
        let fitting =
            part.candidates.firstIndex { $0.slot == slot }
            ?? part.candidates.firstIndex { $0.slot == nil }
            ?? (part.candidates.count == 1 && found.isMarked ? 0 : nil)
        guard let fitting else { return .fail(.noFile(image: image, slot: slot)) }
        let candidate = part.candidates[fitting]
        let slots = found.slots?.slots.filter { $0.image == image }
        if let slots, slots.isEmpty { return .fail(.noSlot(image: image)) }
        if slots == nil, image != 0, found.list.images.allSatisfy({ $0.image != image }) {
            return .fail(.noSlot(image: image))
        }
        let target = slots?.first { $0.slot == slot } ?? slots?.first { $0.uploadID != nil }
        if let limit = target?.maximum ?? target?.size, candidate.size > limit {
            return .fail(.tooLarge(image: image, size: candidate.size, limit: limit))
        }
        for need in candidate.dependencies where !isThere(need, goal, found.list) {
            return .fail(.dependency(image: image, on: need.image, atLeast: need.atLeast))
        }
        if !found.isMarked, let active, let runs = active.version, runs >= candidate.version {
            return .fail(.notNewer(image: image, runs: runs, wanted: candidate.version))
        }
        return .upload(part: index, candidate: fitting, uploadID: target?.uploadID ?? image)
    }

    /// Another image is tried, or waits to be: until it is gone, nothing can be sent.
    private static func isOccupied(_ image: Int, _ list: SMPImageList) -> Bool {
        if let active = list.active(image), !active.flags.contains(.confirmed) { return true }
        return list.others(image).contains { $0.flags.contains(.pending) }
    }

    private static func isThere(
        _ need: MCUbootImage.Dependency,
        _ goal: SMPGoal,
        _ list: SMPImageList
    ) -> Bool {
        if let part = goal.parts.first(where: { $0.image == need.image }) {
            return part.candidates.allSatisfy { $0.version >= need.atLeast }
        }
        guard let version = list.active(need.image)?.version else { return false }
        return version >= need.atLeast
    }

    private static func obstacle(
        to staged: SMPImage,
        of part: SMPGoal.Part,
        _ found: SMPFindings
    ) -> SMPUpdateError? {
        guard !found.isMarked, let runs = found.list.active(part.image)?.version,
            let version = staged.version, runs >= version
        else { return nil }
        return .notNewer(image: part.image, runs: runs, wanted: version)
    }

    // MARK: After it

    /// Finds out why not everything runs though the module restarted.
    private static func judge(
        _ goal: SMPGoal,
        _ found: SMPFindings,
        _ memory: SMPMemory,
        _ standings: [SMPStanding]
    ) -> SMPStep {
        for (part, standing) in zip(goal.parts, standings) {
            let image = part.image
            switch standing {
            case .trying, .installed: continue
            case .absent:
                // What was taken up in the middle may be a beginning that is not there any more.
                if memory.resumed.contains(image), !memory.erased.contains(image) {
                    return .erase(image: image, slot: 2 * image + 1)
                }
                return .fail(.refusedByBootloader(image: image))
            case .staged(let staged):
                if staged.flags.contains(.pending) || staged.flags.contains(.permanent) {
                    return memory.restarts < restartLimit
                        ? .restart(.install) : .fail(.noRestart)
                }
                return .fail(
                    found.canRevert && part.canRevert
                        ? .reverted(image: image) : .refusedByBootloader(image: image)
                )
            }
        }
        return .done
    }

    /// All of it runs: for good, or until the next start.
    private static func conclude(
        _ goal: SMPGoal,
        _ found: SMPFindings,
        _ memory: SMPMemory,
        _ standings: [SMPStanding]
    ) -> SMPStep {
        let trying = zip(goal.parts, standings).filter { $0.1 == .trying }.map(\.0)
        if memory.hasActed || !trying.isEmpty, memory.isHealthy == nil { return .checkHealth }
        guard memory.isHealthy != false else {
            guard found.canRevert, !trying.isEmpty else { return .fail(.unhealthy) }
            return memory.restarts < restartLimit ? .restart(.takeBack) : .fail(.unhealthy)
        }
        guard let part = trying.first else { return .done }
        // Where nothing reverts, what is not confirmed stays all the same.
        if !found.canRevert, memory.confirmsNothing { return .done }
        guard memory.confirmations < confirmationLimit * goal.parts.count else {
            return .fail(.notConfirmed)
        }
        return .confirm(hash: part.image == 0 ? nil : found.list.active(part.image)?.hash)
    }
}
