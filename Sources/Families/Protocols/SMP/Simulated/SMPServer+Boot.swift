import Base
import Simulation

/// MCUboot's actions at a restart.
extension SMPServer {
    /// Restarts the device: the bootloader chooses an image, and most devices forget the current
    /// upload.
    package mutating func restarted() {
        if rules.recall != .always { session = nil }
        // With several images, the bootloader ignores those that were marked after the first one.
        let first = facts.images[0]
        for number in facts.images.indices.dropFirst()
        where first.mark != .none && facts.images[number].mark != .none
            && facts.images[number].markedAs > first.markedAs
        {
            facts.images[number].mark = .none
        }
        for number in facts.images.indices { boot(number) }
        values.restarted()
    }

    /// The flags of marked images are lost, as by a fault of the flash.
    package mutating func marksLost() {
        for number in facts.images.indices { facts.images[number].mark = .none }
    }

    private mutating func boot(_ number: Int) {
        switch rules.mode {
        case .swapScratch, .swapMove, .swapOffset, .overwrite, .directXIPRevert:
            bootMarked(number)
        case .directXIP, .ramLoad, .singleSlotRAMLoad: bootHighest(number)
        case .singleSlot, .firmwareLoader: break
        }
    }

    private mutating func bootMarked(_ number: Int) {
        var image = facts.images[number]
        let canRevert = rules.mode.canRevert && number < rules.firstWithoutRevert
        if image.mark != .none {
            let isPermanent = image.mark == .permanent || !canRevert
            image.mark = .none
            if image.otherHasRun || isFit(number) {
                if !image.otherHasRun { decompress(&image, number) }
                exchange(&image)
                image.isConfirmed = isPermanent
                image.otherHasRun = true
                image.otherWasTried = false
                if isPermanent, !canRevert { image.other = nil }
            } else {
                image.other = nil
                image.otherHasRun = false
            }
        } else if !image.isConfirmed, image.other != nil {
            exchange(&image)
            image.isConfirmed = true
            image.otherHasRun = false
            image.otherWasTried = true
            if rules.mode == .directXIPRevert { image.other = nil }
        }
        facts.images[number] = image
    }

    private mutating func bootHighest(_ number: Int) {
        var image = facts.images[number]
        guard let other = image.other else { return }
        if !image.otherHasRun, !isFit(number) {
            image.other = nil
        } else if other.version > image.active.version {
            if !image.otherHasRun { decompress(&image, number) }
            exchange(&image)
            image.otherHasRun = true
        }
        facts.images[number] = image
    }

    /// A compressed image is installed decompressed, with that image's hash.
    private func decompress(_ image: inout SMPServerFacts.Image, _ number: Int) {
        let bytes = memory.read(start(of: number)..<start(of: number) + slotSize)
        guard let staged = Self.image(in: bytes) else { return }
        image.other?.hash = staged.installedHash
    }

    private func exchange(_ image: inout SMPServerFacts.Image) {
        guard let other = image.other else { return }
        image.other = image.active
        image.active = other
        if rules.mode == .directXIP || rules.mode == .directXIPRevert || rules.mode == .ramLoad {
            image.activeSlot = image.otherSlot
        }
    }

    /// Whether the bootloader would start the image in the other slot.
    private func isFit(_ number: Int) -> Bool {
        let bytes = memory.read(start(of: number)..<start(of: number) + slotSize)
        guard let header = try? MCUbootHeader(bytes[...]), let image = Self.image(in: bytes),
            !header.flags.contains(.notBootable)
        else { return false }
        // A simulated device has no key for an encrypted image.
        guard image.matches(bytes) || image.isEncrypted, isSigned(image, image.hash) else {
            return false
        }
        if rules.refusesDowngrade, image.version < facts.images[number].active.version {
            return false
        }
        return image.dependencies.allSatisfy { need in
            guard facts.images.indices.contains(need.image) else { return false }
            let there = facts.images[need.image]
            let coming = there.mark == .none ? nil : there.other?.version
            return max(there.active.version, coming ?? there.active.version) >= need.atLeast
        }
    }

    /// The image at the beginning of a slot; bytes after it do not matter.
    private static func image(in slot: [UInt8]) -> MCUbootImage? {
        if let image = try? MCUbootImage(slot) { return image }
        guard let header = try? MCUbootHeader(slot[...]) else { return nil }
        var end = header.valuesStart
        if header.protectedSize > 0 { end += header.protectedSize }
        guard end + 4 <= slot.count else { return nil }
        end += Int(slot[end + 2]) | Int(slot[end + 3]) << 8
        guard end <= slot.count else { return nil }
        return try? MCUbootImage(Array(slot[..<end]))
    }

    private func isSigned(_ image: MCUbootImage, _ hash: [UInt8]) -> Bool {
        guard let encoded = rules.key else { return true }
        guard let key = P256Key(encoded: encoded), let digest = SHA256Digest(bytes: hash),
            image.values.contains(where: {
                $0.kind == .keyHash && $0.bytes == key.hash.bytes
                    || $0.kind == .publicKey && $0.bytes == encoded
            })
        else { return false }
        return image.values.contains {
            $0.kind == .ecdsa && key.signed(digest, with: $0.bytes)
        }
    }
}
