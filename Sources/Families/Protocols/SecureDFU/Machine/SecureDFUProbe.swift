package import Base
package import Radio

/// Asks a Secure DFU bootloader how much of a package it has, and changes nothing.
///
/// The init packet identifies the part: one that is present completely or in part, and is a prefix
/// of ours, belongs to our transfer. Images that the bootloader has installed leave no trace in it.
package struct SecureDFUProbe: Sendable {
    package enum State: Equatable, Sendable {
        /// Next: `selectingInit`.
        case idle
        /// Next: `selectingData`, `ended`.
        case selectingInit
        /// Its init packet is the one of this part.
        ///
        /// Next: `ended`.
        case selectingData(part: Int)
        case ended(UpdateProbe)
        case failed(UploadError)
    }

    package enum Action: Equatable, Sendable {
        /// Write to the control point, then wait for a notification.
        case write(DFURequest)
        case wait
        case found(UpdateProbe)
        case failed(UploadError)
    }

    package private(set) var state = State.idle
    /// When `timeout` is due; nil before the beginning and at the end.
    package private(set) var deadline: Moment?
    private let parts: [FirmwarePart]
    private let limit: Duration

    package init(_ parts: [FirmwarePart], limit: Duration = .seconds(10)) {
        self.parts = parts
        self.limit = limit
    }

    package mutating func begin(at now: Moment) -> Action {
        guard state == .idle else { return result }
        return ask(.command, in: .selectingInit, at: now)
    }

    package mutating func response(_ bytes: [UInt8], at now: Moment) -> Action {
        let about: UploadError.Part
        switch state {
        case .idle, .ended, .failed: return result
        case .selectingInit: about = .initPacket
        case .selectingData: about = .image
        }
        let response: DFUResponse
        do { response = try DFUResponse(bytes) } catch { return fail(.malformed(bytes)) }
        switch response {
        case .failed(DFUOperation.select.rawValue, let fault):
            return fail(.refused(.select, of: about, fault))
        case .selected(_, let offset, let crc):
            return selected(offset: Int(offset), crc: crc, at: now)
        case .failed, .done, .checksum:
            // A late answer or one to another request: the right one may still arrive.
            guard let deadline, now >= deadline else { return .wait }
            return timeout(at: now)
        }
    }

    private mutating func selected(offset: Int, crc: UInt32, at now: Moment) -> Action {
        switch state {
        case .selectingInit:
            guard offset > 0 else { return end(.nothing(parts: parts.count)) }
            let part = parts.firstIndex { part in
                offset <= part.initPacket.count
                    && CRC32.of(part.initPacket[..<offset]) == crc
            }
            guard let part else {
                var probe = UpdateProbe.nothing(parts: parts.count)
                probe.isForeign = true
                return end(probe)
            }
            return ask(.data, in: .selectingData(part: part), at: now)
        case .selectingData(let part):
            let fits = parts[part].checksums.value(upTo: offset) == crc
            var probe = UpdateProbe.nothing(parts: parts.count)
            for earlier in 0..<part { probe.holdings[earlier] = .whole }
            // Even a complete image is not installed before its last object is executed.
            probe.holdings[part] = .some(fits ? offset : 0)
            return end(probe)
        case .idle, .ended, .failed:
            return result
        }
    }

    package mutating func timeout(at now: Moment) -> Action {
        guard let deadline, now >= deadline else { return result }
        return fail(
            .noAnswer(.select, of: state == .selectingInit ? .initPacket : .image)
        )
    }

    package mutating func linkFailed(_ failure: LinkFailure, at now: Moment) -> Action {
        switch state {
        case .ended, .failed: result
        case .idle, .selectingInit, .selectingData: fail(.link(failure))
        }
    }

    private var result: Action {
        switch state {
        case .idle, .selectingInit, .selectingData: .wait
        case .ended(let probe): .found(probe)
        case .failed(let error): .failed(error)
        }
    }

    private mutating func ask(_ type: DFUObjectType, in next: State, at now: Moment) -> Action {
        state = next
        deadline = now.advanced(by: limit)
        return .write(.select(type))
    }

    private mutating func end(_ probe: UpdateProbe) -> Action {
        deadline = nil
        state = .ended(probe)
        return .found(probe)
    }

    private mutating func fail(_ error: UploadError) -> Action {
        deadline = nil
        state = .failed(error)
        return .failed(error)
    }
}
