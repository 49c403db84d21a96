import Base
import Radio

/// The image, object by object: create, send, check, execute.
extension SecureDFUUpload {
    mutating func foundData(maximum: Int, offset: Int, crc: UInt32, at now: Moment) -> Action {
        guard maximum > 0 else { return end(.failed(.noObjectSize)) }
        objectSize = maximum
        guard offset > 0 else { return create(object(at: 0), at: now) }
        foundProgress = true
        guard offset <= total else {
            return canStartOver
                ? startOver(at: now) : end(.failed(.beyondImage(offset: offset)))
        }
        // The object that contains the last received byte.
        var object = object(at: (offset - 1) / maximum * maximum)
        guard image.value(upTo: offset) == crc else {
            resumedFrom = object.start
            acknowledged = object.start
            return create(object, at: now)
        }
        resumedFrom = offset
        acknowledged = offset
        object.acknowledged = offset
        object.handed = offset
        guard offset < object.end else { return execute(object, resumed: true, at: now) }
        return sendMore(of: object, at: now)
    }

    private func object(at start: Int) -> UploadObject {
        UploadObject(
            start: start,
            end: start + min(objectSize, total - start),
            triesLeft: settings.retriesPerObject
        )
    }

    private mutating func create(_ object: UploadObject, at now: Moment) -> Action {
        guard !isStopping else { return end(.stopped(at: object.start)) }
        let size = UInt32(object.end - object.start)
        return ask(.create(.data, size: size), in: .creating(object), at: now)
    }

    mutating func created(_ object: UploadObject, at now: Moment) -> Action {
        let pause = settings.firstObjectDelay > .zero ? settings.firstObjectDelay : delayAfterLoss
        guard !hasPaused, pause > .zero else { return sendMore(of: object, at: now) }
        hasPaused = true
        let over = now.advanced(by: pause)
        state = .pausing(object)
        deadline = over
        return .pause(until: over)
    }

    /// Sends as much of the object as the window allows.
    mutating func sendMore(of object: UploadObject, at now: Moment) -> Action {
        let left = object.end - object.handed
        let open = settings.window * settings.packetLength - (object.handed - object.acknowledged)
        let length =
            settings.receiptInterval == 0 || left <= open
            ? left : open / settings.packetLength * settings.packetLength
        guard length > 0 else {
            state = .awaitingReceipt(object)
            deadline = now.advanced(by: settings.receiptLimit)
            return .wait
        }
        var next = object
        next.handed += length
        sent += length
        state = .sending(next)
        deadline = now.advanced(by: settings.sendLimit)
        return .send(object.handed..<next.handed, of: .image)
    }

    mutating func receipt(
        for object: UploadObject,
        offset: Int,
        crc: UInt32,
        at now: Moment
    ) -> Action {
        switch object.finding(offset: offset, matches: image.value(upTo: offset) == crc) {
        case .stale:
            return .wait
        case .wrong:
            return createAgain(object, at: now)
        case .progress:
            acknowledged = offset
            var next = object
            next.acknowledged = offset
            guard case .sending = state else { return sendMore(of: next, at: now) }
            state = .sending(next)
            return .wait
        }
    }

    /// `asked` counts the requests: while it is 1, receipts for earlier packets may still be on
    /// their way, and they look like the answer.
    mutating func askForChecksum(of object: UploadObject, asked: Int, at now: Moment) -> Action {
        let limit = settings.receiptInterval > 0 ? settings.receiptLimit : settings.answerLimit
        return ask(.checksum, in: .checking(object, asked: asked), at: now, limit: limit)
    }

    mutating func checked(
        _ object: UploadObject,
        offset: Int,
        crc: UInt32,
        asked: Int,
        at now: Moment
    ) -> Action {
        let finding = object.finding(offset: offset, matches: image.value(upTo: offset) == crc)
        if finding == .wrong { return createAgain(object, at: now) }
        var next = object
        if finding == .progress {
            acknowledged = offset
            next.acknowledged = offset
        }
        if offset == object.end { return execute(next, resumed: false, at: now) }
        if offset == object.handed { return sendMore(of: next, at: now) }
        if asked > 1 {
            return offset == next.acknowledged ? sendAgain(next, at: now) : .wait
        }
        // This is a receipt, or the answer to a request that overtook packets in the host.
        guard settings.receiptInterval > 0 else {
            return askForChecksum(of: next, asked: 2, at: now)
        }
        if finding == .progress { deadline = now.advanced(by: settings.receiptLimit) }
        state = .checking(next, asked: asked)
        return .wait
    }

    /// The rest of the sent data is lost, but the received data is right: only the rest is sent
    /// again.
    private mutating func sendAgain(_ object: UploadObject, at now: Moment) -> Action {
        guard object.triesLeft > 0 else {
            return end(.failed(.noProgress(acknowledged: object.acknowledged)))
        }
        var next = object
        next.triesLeft -= 1
        next.handed = object.acknowledged
        return sendMore(of: next, at: now)
    }

    /// The received data of the object differs from the sent data: the object is created again.
    private mutating func createAgain(_ object: UploadObject, at now: Moment) -> Action {
        acknowledged = min(acknowledged, object.start)
        guard object.triesLeft > 0 else {
            return canStartOver
                ? startOver(at: now) : end(.failed(.corrupted(of: .image, offset: object.start)))
        }
        // The first object on a link may have arrived before the bootloader was ready for it.
        if !hasExecuted { delayAfterLoss = UploadSettings.delayAfterLoss }
        var next = UploadObject(start: object.start, end: object.end, triesLeft: object.triesLeft)
        next.triesLeft -= 1
        return create(next, at: now)
    }

    private mutating func execute(
        _ object: UploadObject,
        resumed: Bool,
        at now: Moment
    ) -> Action {
        ask(
            .execute,
            in: .executing(object, resumed: resumed),
            at: now,
            limit: settings.executeLimit
        )
    }

    mutating func executed(_ object: UploadObject, at now: Moment) -> Action {
        hasExecuted = true
        guard object.end < total else { return end(.finished) }
        return create(self.object(at: object.end), at: now)
    }
}
