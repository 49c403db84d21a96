import Base

/// The next step for an image, decided only from what the module has just reported.
///
/// Nothing is remembered between two surveys, so the number of links and processes before does not
/// matter.
package enum SMPStep: Equatable, Sendable {
    /// Send one of the image's variants, under the image number that the module uses for it.
    case upload(candidate: Int, uploadID: Int)
    case mark(hash: [UInt8], isConfirmed: Bool)
    /// Restart into marked images, or out of one that was left unconfirmed.
    case restart
    case done
    case fail(SMPUpdateError)

    /// The next step until the module runs the goal, after all of it has been sent.
    package static func next(_ goal: SMPGoal, _ found: SMPFindings) -> SMPStep {
        let standings = goal.standings(in: found.list)
        if standings.allSatisfy(\.standing.isRunning) { return .done }
        for (part, standing) in standings where standing == .absent {
            return next(goal, found, bringing: part.image)
        }
        for (part, standing) in standings {
            guard case .staged(let staged) = standing else { continue }
            if let error = obstacle(to: staged, of: part, found) { return .fail(error) }
            if found.isMarked, !staged.isMarked, let candidate = part.candidate(for: staged) {
                return .mark(hash: staged.hash ?? candidate.hash, isConfirmed: !part.canRevert)
            }
        }
        return .restart
    }

    /// The next step until one image of the goal is in its slot; `done` when it is there or runs.
    package static func next(
        _ goal: SMPGoal,
        _ found: SMPFindings,
        bringing image: Int
    ) -> SMPStep {
        let wanted = goal.standings(in: found.list).first { $0.part.image == image }
        guard let (part, standing) = wanted, standing == .absent else { return .done }
        if found.canRevert, isOccupied(image, found.list) { return .restart }
        let active = found.list.active(image)
        let slot = found.list.freeSlot(of: image)
        let fitting =
            part.candidates.firstIndex { $0.slot == slot }
            ?? part.candidates.firstIndex { $0.slot == nil }
            ?? (part.candidates.count == 1 && found.isMarked ? 0 : nil)
        guard let fitting else { return .fail(.noFile(image: image, slot: slot)) }
        let candidate = part.candidates[fitting]
        let slots = found.slots?.slots.filter { $0.image == image }
        if let slots, slots.isEmpty { return .fail(.noSlot(image: image)) }
        if slots == nil, image != 0, !found.list.hasNumbers { return .fail(.noSlot(image: image)) }
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
        return .upload(candidate: fitting, uploadID: target?.uploadID ?? image)
    }

    /// Whether another image is on trial or waits to be started: until it is gone, nothing can be
    /// sent.
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
}

extension SMPImage {
    /// Whether the next restart starts it.
    package var isMarked: Bool { flags.contains(.pending) || flags.contains(.permanent) }
}

extension SMPImageList {
    /// The slot of this image that does not run.
    package func freeSlot(of image: Int) -> Int {
        active(image).map { 1 - min($0.slot, 1) } ?? 1
    }
}
