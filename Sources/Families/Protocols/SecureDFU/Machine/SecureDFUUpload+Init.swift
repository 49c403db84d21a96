import Base

/// The init packet: the part that the target has, the rest, the check and the execution.
extension SecureDFUUpload {
    mutating func foundInit(maximum: Int, offset: Int, crc: UInt32, at now: Moment) -> Action {
        guard initPacket.count <= maximum else {
            return end(
                .failed(.initPacketTooLong(length: initPacket.count, maximum: maximum))
            )
        }
        guard offset > 0, offset <= initPacket.count,
            CRC32.of(initPacket[..<offset]) == crc
        else { return silence(resumingAt: nil, at: now) }
        guard offset < initPacket.count else { return executeInit(resumed: true, at: now) }
        return silence(resumingAt: offset, at: now)
    }

    private mutating func silence(resumingAt offset: Int?, at now: Moment) -> Action {
        ask(.setReceiptInterval(0), in: .silencing(resumingAt: offset), at: now)
    }

    /// Creating the init packet deletes all image data that the target has.
    mutating func createInit(at now: Moment) -> Action {
        ask(.create(.command, size: UInt32(initPacket.count)), in: .creatingInit, at: now)
    }

    mutating func sendInit(from offset: Int, at now: Moment) -> Action {
        state = .sendingInit
        deadline = now.advanced(by: settings.sendLimit)
        return .send(offset..<initPacket.count, of: .initPacket)
    }

    mutating func checkedInit(offset: Int, crc: UInt32, asked: Int, at now: Moment) -> Action {
        if offset == initPacket.count, crc == CRC32.of(initPacket) {
            return executeInit(resumed: false, at: now)
        }
        // A host can let a request overtake packets: at the next answer they have arrived.
        guard asked > 1 else { return ask(.checksum, in: .checkingInit(asked: 2), at: now) }
        guard initTriesLeft > 0 else {
            return end(.failed(.corrupted(of: .initPacket, offset: 0)))
        }
        initTriesLeft -= 1
        return createInit(at: now)
    }

    private mutating func executeInit(resumed: Bool, at now: Moment) -> Action {
        ask(
            .execute,
            in: .executingInit(resumed: resumed),
            at: now,
            limit: settings.executeLimit
        )
    }

    mutating func acceptedInit(at now: Moment) -> Action {
        ask(.setReceiptInterval(settings.receiptInterval), in: .settingReceipts, at: now)
    }

    /// The target's data does not belong to our image: everything is sent again, beginning with the
    /// init packet, at most once on a link.
    mutating func startOver(at now: Moment) -> Action {
        startedOver = true
        foundProgress = false
        resumedFrom = 0
        acknowledged = 0
        return silence(resumingAt: nil, at: now)
    }

    var canStartOver: Bool { foundProgress && !startedOver }
}
