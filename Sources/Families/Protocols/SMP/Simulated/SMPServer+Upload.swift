import Base
import Simulation

/// Receives an image, piece by piece.
extension SMPServer {
    mutating func upload(
        _ body: CBORValue,
        _ actions: inout [Action]
    ) throws(Refusal) -> CBORValue {
        guard let offset = body["off"]?.integer, offset >= 0 else {
            throw .image(.offsetMissing)
        }
        let data = body["data"]?.bytes ?? []
        if offset == 0, try !open(body, data, &actions) { return wanted() }
        guard var session, offset == session.offset else { return wanted() }
        if meets(.wrongOffset(offset)) { return wanted(instead: max(0, offset - 16)) }
        var kept = data
        if rules.writesWords, offset + data.count < session.length {
            kept.removeLast(data.count % 4)
        }
        let end = offset + kept.count
        guard end <= session.length else { throw .image(.dataOverrun) }
        if meets(.flashFull(end)) { throw .image(.flashWrite) }
        if rules.erasesAsItGoes, end > session.erasedTo {
            let pages = (end - session.erasedTo + rules.pageSize - 1) / rules.pageSize
            let goal = min(slotSize, session.erasedTo + pages * rules.pageSize)
            wipe(session.image, from: session.erasedTo, to: goal)
            session.erasedTo = goal
            actions.append(.erase(pages: pages))
        }
        memory.write(kept[...], at: start(of: session.image) + offset)
        session.offset = end
        self.session = session
        guard end == session.length else { return wanted() }
        return close(session)
    }

    /// Opens an upload; returns true when it is new, false when an earlier one continues.
    private mutating func open(
        _ body: CBORValue,
        _ data: [UInt8],
        _ actions: inout [Action]
    ) throws(Refusal) -> Bool {
        guard let length = body["len"]?.integer, length >= 0 else { throw .image(.lengthMissing) }
        let sha = body["sha"]?.bytes ?? []
        guard sha.count <= 32 else { throw .image(.invalidHash) }
        if let session, !sha.isEmpty, session.sha == sha, session.length == length { return false }
        guard data.count >= SMPNumbers.firstChunkMinimum else { throw .image(.headerTooShort) }
        guard Array(data[..<4]) == MCUbootHeader.magic.littleBytes else {
            throw .image(.headerMagic)
        }
        // A device with one image accepts every number for it.
        let asked = body["image"]?.integer ?? 0
        let number = facts.images.count == 1 ? 0 : asked
        guard facts.images.indices.contains(number) else { throw .image(.invalidSlot) }
        let image = facts.images[number]
        guard image.isConfirmed, image.mark == .none, rules.mode != .singleSlot else {
            throw .image(.noFreeSlot)
        }
        guard length <= slotSize else { throw .image(.tooLarge) }
        if body["upgrade"]?.bool == true, let header = try? MCUbootHeader(data[...]),
            header.version <= image.active.version
        {
            throw .image(.currentIsNewer)
        }
        facts.images[number].other = nil
        facts.images[number].otherHasRun = false
        facts.images[number].otherWasTried = false
        session = Session(image: number, length: length, sha: sha)
        if !rules.erasesAsItGoes {
            wipe(number, from: 0, to: slotSize)
            actions.append(.erase(pages: slotSize / rules.pageSize))
        }
        return true
    }

    private func wanted(instead offset: Int? = nil) -> CBORValue {
        .map(["off": .int(offset ?? session?.offset ?? 0)])
    }

    private mutating func close(_ session: Session) -> CBORValue {
        self.session = nil
        let bytes = uploaded(session.image, length: session.length)
        // A device lists an image with a header and a hash; only the bootloader checks the hash.
        if let image = try? MCUbootImage(bytes) {
            facts.images[session.image].other = SMPServerFacts.Content(
                version: image.version,
                hash: image.hash
            )
        }
        let matches: Bool? =
            rules.checksDigest && session.sha.count == 32
            ? SHA256.digest(of: bytes).bytes == session.sha : nil
        return .map(["off": .int(session.length), "match": matches.map { .bool($0) }])
    }

    func uploaded(_ image: Int, length: Int) -> [UInt8] {
        memory.read(start(of: image)..<start(of: image) + length)
    }
}
