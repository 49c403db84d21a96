import Base

/// Assigns answers to states; an answer that fits no state is late or repeated.
extension SecureDFUUpload {
    mutating func take(_ response: DFUResponse, at now: Moment) -> Action {
        if case .failed(let operation, let fault) = response {
            return refused(operation, fault, at: now)
        }
        switch state {
        case .selectingInit:
            guard case .selected(let maximum, let offset, let crc) = response else { return .wait }
            return foundInit(maximum: Int(maximum), offset: Int(offset), crc: crc, at: now)
        case .silencing(let offset):
            guard response == .done(.setReceiptInterval) else { return .wait }
            guard let offset else { return createInit(at: now) }
            return sendInit(from: offset, at: now)
        case .creatingInit:
            guard response == .done(.create) else { return .wait }
            return sendInit(from: 0, at: now)
        case .checkingInit(let asked):
            guard case .checksum(let offset, let crc) = response else { return .wait }
            return checkedInit(offset: Int(offset), crc: crc, asked: asked, at: now)
        case .executingInit:
            guard response == .done(.execute) else { return .wait }
            return acceptedInit(at: now)
        case .settingReceipts:
            guard response == .done(.setReceiptInterval) else { return .wait }
            return ask(.select(.data), in: .selectingData, at: now)
        case .selectingData:
            guard case .selected(let maximum, let offset, let crc) = response else { return .wait }
            return foundData(maximum: Int(maximum), offset: Int(offset), crc: crc, at: now)
        case .creating(let object):
            guard response == .done(.create) else { return .wait }
            return created(object, at: now)
        case .sending(let object), .awaitingReceipt(let object):
            guard case .checksum(let offset, let crc) = response else { return .wait }
            return receipt(for: object, offset: Int(offset), crc: crc, at: now)
        case .checking(let object, let asked):
            guard case .checksum(let offset, let crc) = response else { return .wait }
            return checked(object, offset: Int(offset), crc: crc, asked: asked, at: now)
        case .executing(let object, _):
            guard response == .done(.execute) else { return .wait }
            return executed(object, at: now)
        case .idle, .sendingInit, .pausing, .ended:
            return .wait
        }
    }

    private mutating func refused(
        _ operation: UInt8,
        _ fault: DFUFault,
        at now: Moment
    ) -> Action {
        guard let (asked, part) = asked, asked.rawValue == operation else { return .wait }
        switch state {
        case .executingInit(resumed: true) where fault == .result(.notPermitted):
            // It was accepted on an earlier link, and the target accepts it only once.
            return acceptedInit(at: now)
        case .executing(let object, resumed: true) where fault == .result(.notPermitted):
            return executed(object, at: now)
        case .silencing(let offset) where fault == .result(.notSupported):
            // A target without receipts sends none.
            guard let offset else { return createInit(at: now) }
            return sendInit(from: offset, at: now)
        case .settingReceipts where fault == .result(.notSupported):
            return ask(.select(.data), in: .selectingData, at: now)
        case .creating where canStartOver && fault.meansAnotherPlace:
            return startOver(at: now)
        case .idle, .selectingInit, .silencing, .creatingInit, .sendingInit, .checkingInit,
            .executingInit, .settingReceipts, .selectingData, .creating, .pausing, .sending,
            .awaitingReceipt, .checking, .executing, .ended:
            return end(.failed(.refused(asked, of: part, fault)))
        }
    }

    /// The current request, nil when there is none.
    private var asked: (DFUOperation, UploadError.Part)? {
        switch state {
        case .selectingInit: (.select, .initPacket)
        case .silencing: (.setReceiptInterval, .initPacket)
        case .creatingInit: (.create, .initPacket)
        case .checkingInit: (.checksum, .initPacket)
        case .executingInit: (.execute, .initPacket)
        case .settingReceipts: (.setReceiptInterval, .image)
        case .selectingData: (.select, .image)
        case .creating: (.create, .image)
        case .checking: (.checksum, .image)
        case .executing: (.execute, .image)
        case .idle, .sendingInit, .pausing, .sending, .awaitingReceipt, .ended: nil
        }
    }
}

extension DFUFault {
    /// Whether the target refuses an object as it does when its offset differs from ours.
    fileprivate var meansAnotherPlace: Bool {
        self == .result(.notPermitted) || self == .result(.invalidParameter)
    }
}
