import Base

/// Splits the image into messages, and interprets the offsets that the device reports.
extension SMPUpload {
    // MARK: The first piece

    /// Sends the first piece; answers to the `earlier` attempts count, too.
    mutating func open(at now: Moment, after earlier: [Flight] = []) -> Action {
        if isStopping { return end(.stopped(at: acknowledged)) }
        var opening = SMPChunk.Opening(image: image, length: total, sha: sha)
        var room = SMPChunk.room(
            frameLength: settings.frameLength,
            offset: 0,
            opening: opening
        )
        if room < SMPNumbers.firstChunkMinimum, sha != nil {
            // The image's header is more important than resuming.
            opening = SMPChunk.Opening(image: image, length: total, sha: nil)
            room = SMPChunk.room(
                frameLength: settings.frameLength,
                offset: 0,
                opening: opening
            )
        }
        guard room >= SMPNumbers.firstChunkMinimum else {
            return end(.failed(.frameTooShort(settings.frameLength)))
        }
        if isBegun, opening.sha != nil { room = SMPNumbers.firstChunkMinimum }
        state = .opening
        flights = earlier
        deadline = now.advanced(by: settings.openingLimit)
        return send(
            SMPChunk(offset: 0, data: file[..<pieceEnd(from: 0, room: room)], opening: opening)
        )
    }

    mutating func opened(_ flight: Flight, wants offset: Int, at now: Moment) -> Action {
        flights = []
        if offset != flight.end, isShortened(flight, wants: offset) { isAligned = true }
        // Without a digest the device cannot recognise the image.
        if offset == 0 || sha == nil && offset > flight.end {
            guard spendTry() else { return end(.failed(.noProgress(offset: offset))) }
            return open(at: now)
        }
        // The offset differs from the end of this piece: the device already has that much of the
        // same image.
        if offset != flight.end, !isAligned { resumedFrom = offset }
        acknowledged = offset
        handed = offset
        return resume(at: now)
    }

    // MARK: The pieces after it

    mutating func answered(_ flight: Flight, wants offset: Int, at now: Moment) -> Action {
        guard offset == flight.end else {
            if isShortened(flight, wants: offset), !isAligned {
                isAligned = true
            } else {
                window = max(1, window - 1)
            }
            state = .draining(offset: offset, isBusy: false)
            extend(at: now)
            return drained(at: now)
        }
        if offset > acknowledged {
            acknowledged = offset
            triesLeft = settings.retries
            busyLeft = settings.busyLimit
        }
        extend(at: now)
        return goOn(at: now)
    }

    /// Whether the device kept only whole words of the piece.
    private func isShortened(_ flight: Flight, wants offset: Int) -> Bool {
        !flight.end.isMultiple(of: 4) && offset == flight.end / 4 * 4 && offset > flight.start
    }

    mutating func refused(_ fault: SMPFault, _ flight: Flight, at now: Moment) -> Action {
        let isOpening = state == .opening
        var offset = acknowledged
        if case .draining(let wanted, _) = state { offset = wanted }
        switch fault {
        case .code(.busy, _):
            guard busyLeft > 0 else { return end(.failed(.refused(fault))) }
            busyLeft -= 1
            state = .draining(offset: offset, isBusy: true)
        case .code(.noMemory, _), .code(.timedOut, _), .code(.invalid, _), .code(.corrupt, _):
            // Part of the message was lost, or the device has no room at the moment.
            guard spendTry() else { return end(.failed(.refused(fault))) }
            window = max(1, window - 1)
            state = .draining(offset: offset, isBusy: true)
        case .code, .image, .group:
            return end(.failed(.refused(fault)))
        }
        if isOpening { flights = [] }
        extend(at: now)
        return drained(at: now)
    }

    /// Continues at the offset that the device wants, when no message is on its way.
    mutating func drained(at now: Moment) -> Action {
        guard case .draining(let offset, let isBusy) = state, flights.isEmpty else { return .wait }
        if offset > acknowledged {
            triesLeft = settings.retries
        } else if !isBusy, !spendTry() {
            return end(.failed(.noProgress(offset: offset)))
        }
        acknowledged = offset
        handed = offset
        guard isBusy else { return resume(at: now) }
        state = .pausing
        let moment = now.advanced(by: settings.busyPause)
        deadline = moment
        return .pause(until: moment)
    }

    mutating func resume(at now: Moment) -> Action {
        guard acknowledged > 0 else { return open(at: now) }
        state = .sending
        extend(at: now)
        return goOn(at: now)
    }

    /// Sends the next piece when the window has room for it.
    mutating func goOn(at now: Moment) -> Action {
        guard acknowledged < total else { return end(.finished(matches: matches)) }
        if isStopping {
            return flights.isEmpty ? end(.stopped(at: acknowledged)) : .wait
        }
        guard handed < total, flights.count < window else { return .wait }
        let room = SMPChunk.room(frameLength: settings.frameLength, offset: handed)
        let wasEmpty = flights.isEmpty
        let chunk = SMPChunk(
            offset: handed,
            data: file[handed..<pieceEnd(from: handed, room: room)]
        )
        if wasEmpty { extend(at: now) }
        return send(chunk)
    }

    private func pieceEnd(from start: Int, room: Int) -> Int {
        let end = min(start + room, total)
        guard isAligned, end < total else { return end }
        return max(start + 4, end / 4 * 4)
    }

    private mutating func send(_ chunk: SMPChunk) -> Action {
        let end = chunk.offset + chunk.data.count
        flights.append(Flight(sequence: sequence, start: chunk.offset, end: end))
        handed = end
        sent += chunk.data.count
        defer { sequence &+= 1 }
        return .send(SMPRequest.upload(chunk).bytes(version: version, sequence: sequence))
    }

    // MARK: Answers and their time

    func flight(answeredBy header: SMPHeader) -> Int? {
        guard header.operation == .writeResponse, header.group == SMPNumbers.Group.image,
            header.command == SMPNumbers.Image.upload
        else { return nil }
        return flights.firstIndex { $0.sequence == header.sequence }
    }

    /// Sets the deadline for the next answer; the last answer may take longer.
    mutating func extend(at now: Moment) {
        let limit = handed == total ? settings.closingLimit : settings.answerLimit
        deadline = now.advanced(by: limit)
    }
}
