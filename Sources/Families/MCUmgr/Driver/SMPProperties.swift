package import Base
package import Radio

/// The values of one module behind a wire of its family's own, each with its number.
package protocol OwnValues: Sendable {
    /// Nil when the module does not have it.
    func read(_ number: UInt16) async throws(ModuleError) -> [UInt8]?

    func write(_ bytes: [UInt8], to number: UInt16) async throws(ModuleError)
}

/// The properties of a module that supports SMP: statistics, settings, files and characteristics.
package final class SMPProperties: PropertyHolder {
    /// Saving writes to flash, possibly after an erase.
    private static let saveLimit = Duration.seconds(40)

    package let profile: Profile
    // Steps on one link run one after the other, and so do the requests of this class.
    nonisolated(unsafe) private let client: SMPClient
    private let link: any Link
    private let time: any Timekeeper
    private let values: (any OwnValues)?

    init(
        client: SMPClient,
        link: any Link,
        profile: Profile,
        time: any Timekeeper,
        values: (any OwnValues)? = nil
    ) {
        self.values = values
        unsafe self.client = client
        self.link = link
        self.profile = profile
        self.time = time
    }

    package func property(_ name: String) -> PropertySpec? { profile.property(name) }

    private var soon: Moment { time.now.advanced(by: profile.answerLimit) }

    // MARK: Reading

    package func read(_ name: String) async throws(PropertyReadError) -> PropertyValue {
        guard let spec = property(name) else {
            throw .propertyNotFound(name, nearest: profile.nearestProperty(to: name))
        }
        guard let source = spec.source else { throw .propertyWriteOnly(name) }
        let found: [UInt8]?
        do throws(ModuleError) { found = try await bytes(at: source.place) } catch {
            throw .module(error)
        }
        guard let found, let value = spec.value(in: found) else { throw .missing(name) }
        return value
    }

    /// Nil when the module has nothing of that name.
    private func bytes(at place: ValuePlace) async throws(ModuleError) -> [UInt8]? {
        switch place {
        case .record: throw .value("modules that support SMP have no records")
        case .characteristic(let characteristic):
            guard link.flags(of: characteristic) != nil else { return nil }
            do throws(RadioError) {
                return try await link.read(characteristic, before: soon)
            } catch { throw .radio(error) }
        case .statistic(let group, let entry):
            let what = "reading the statistics \(group)"
            guard let reply = try await value(.statistics(group: group), what) else { return nil }
            let found = try Self.read(what) { () throws(SMPReplyError) in
                try SMPStatistics(reply.body)
            }
            return found.fields[entry].map { number in
                (0..<8).map { UInt8(truncatingIfNeeded: number >> UInt64(8 * $0)) }
            }
        case .setting(let key, _):
            let what = "reading the setting \(key)"
            guard let reply = try await value(.readSetting(key), what) else { return nil }
            let found = try Self.read(what) { () throws(SMPReplyError) in
                try SMPSetting(reply.body)
            }
            return found.value
        case .file(let name): return try await file(name, limit: place.limit)
        case .value(let number): return try await own().read(number)
        }
    }

    private func own() throws(ModuleError) -> any OwnValues {
        if let values { return values }
        throw .value("modules of this family have no values of their own")
    }

    private func file(_ name: String, limit: Int) async throws(ModuleError) -> [UInt8]? {
        let what = "reading the file \(name)"
        var machine = SMPFileReading(name, limit: limit)
        var action = machine.begin()
        while true {
            switch action {
            case .ask(let request):
                switch try await answer(request, what) {
                case .success(let reply):
                    let piece = try Self.read(what) { () throws(SMPReplyError) in
                        try SMPFileContent(reply.body)
                    }
                    action = machine.answered(piece)
                case .failure(let fault) where fault.isAbsence: return nil
                case .failure(.group(SMPNumbers.Group.files, SMPValueCode.fileEmpty)): return []
                case .failure(let fault): throw .smp(.ask(.refused(fault, what)))
                }
            case .ended(let content): return content
            case .failed(let error): throw .value("\(what): \(error)")
            }
        }
    }

    // MARK: Writing

    @discardableResult
    package func write(
        _ value: PropertyValue,
        to name: String
    ) async throws(PropertyWriteError) -> PropertyValue {
        guard let spec = property(name) else {
            throw .propertyNotFound(name, nearest: profile.nearestProperty(to: name))
        }
        try spec.check(value)
        guard let target = spec.target else { throw .propertyNotWritable(name) }
        var data = [UInt8](repeating: 0, count: target.length)
        do throws(ModuleError) {
            guard spec.put(value, into: &data) else { throw .value("\(name) has no room") }
            try await put(data, at: target.place)
        } catch { throw .module(error) }
        guard let source = spec.source else { return value }
        let found: PropertyValue
        do throws(ModuleError) {
            guard let taken = try await bytes(at: source.place).flatMap({ spec.value(in: $0) })
            else { throw .value("the module does not have the value that was written to \(name)") }
            found = taken
        } catch { throw .module(error) }
        guard found == value else { throw .notTaken(name, found: found) }
        return found
    }

    private func put(_ data: [UInt8], at place: ValuePlace) async throws(ModuleError) {
        switch place {
        case .record, .statistic: throw .value("this value cannot be written")
        case .characteristic(let characteristic):
            do throws(RadioError) {
                try link.require(characteristic)
                try await link.write(data, to: characteristic, before: soon)
            } catch { throw .radio(error) }
        case .setting(let key, let isSaved):
            let what = "writing the setting \(key)"
            let request = SMPRequest.writeSetting(key, data)
            let room = try await frameLength(for: request)
            guard request.bytes(sequence: 0).count <= room else {
                throw .value("\(what): it is longer than the \(room) bytes of a message")
            }
            try await tell(request, what)
            try await tell(.commitSettings, "putting the settings into effect")
            if isSaved { try await tell(.saveSettings, "saving the settings", Self.saveLimit) }
        case .file(let name): try await write(data, toFile: name)
        case .value(let number): try await own().write(data, to: number)
        }
    }

    private func write(_ content: [UInt8], toFile name: String) async throws(ModuleError) {
        let what = "writing the file \(name)"
        let first = SMPFilePiece(name: name, offset: 0, data: content[...], length: content.count)
        let room = try await frameLength(for: .writeFile(first))
        var machine = SMPFileWriting(name, content, frameLength: room)
        var action = machine.begin()
        while true {
            switch action {
            case .ask(let request):
                switch try await answer(request, what, Self.saveLimit) {
                case .success(let reply):
                    let taken = try Self.read(what) { () throws(SMPReplyError) in
                        try SMPFileTaken(reply.body)
                    }
                    action = machine.answered(taken)
                case .failure(let fault): throw .smp(.ask(.refused(fault, what)))
                }
            case .ended: return
            case .failed(let error): throw .value("\(what): \(error)")
            }
        }
    }

    /// The length limit of a message: one that does not fit into one write needs a device that
    /// reassembles it.
    private func frameLength(for request: SMPRequest) async throws(ModuleError) -> Int {
        let single = unsafe client.maximumLength
        guard request.bytes(sequence: 0).count > single else { return single }
        let result: Result<SMPFindings, SMPAskError>
        do throws(RadioError) {
            result = try unsafe await client.survey()
        } catch { throw .radio(error) }
        switch result {
        case .success(let found):
            guard found.reassembles else { return single }
            return max(single, found.parameters?.bufferSize ?? SMPNumbers.defaultBufferSize)
        case .failure(let error): throw .smp(.ask(error))
        }
    }

    // MARK: Changes

    package func changes(
        before deadline: Moment
    ) async throws(PropertyReadError) -> [PropertyReading] {
        guard link.flags(of: SMPNumbers.characteristic) != nil else {
            // Without SMP, a lost link shows only when it is used.
            guard let first = profile.properties.first(where: { $0.source != nil }) else {
                return []
            }
            return [PropertyReading(first.name, try await read(first.name))]
        }
        let isLost: Bool
        do throws(RadioError) {
            isLost = try unsafe await client.isLost(before: deadline)
        } catch { throw .module(.radio(error)) }
        if isLost { throw .module(.radio(.linkLost)) }
        return []
    }

    // MARK: Questions

    /// The answer to a request for one value; nil when there is nothing of that name.
    private func value(
        _ request: SMPRequest,
        _ what: String
    ) async throws(ModuleError) -> SMPReply? {
        switch try await answer(request, what) {
        case .success(let reply): return reply
        case .failure(let fault) where fault.isAbsence: return nil
        case .failure(let fault): throw .smp(.ask(.refused(fault, what)))
        }
    }

    private func tell(
        _ request: SMPRequest,
        _ what: String,
        _ limit: Duration? = nil
    ) async throws(ModuleError) {
        if case .failure(let fault) = try await answer(request, what, limit) {
            throw .smp(.ask(.refused(fault, what)))
        }
    }

    private func answer(
        _ request: SMPRequest,
        _ what: String,
        _ limit: Duration? = nil
    ) async throws(ModuleError) -> Result<SMPReply, SMPFault> {
        let ending: SMPExchange.Ending
        do throws(RadioError) {
            ending = try unsafe await client.ask(request, limit: limit ?? profile.answerLimit)
        } catch { throw .radio(error) }
        switch ending {
        case .answered(let reply): return .success(reply)
        case .refused(let fault): return .failure(fault)
        case .unanswered: throw .smp(.ask(.noAnswer(what)))
        case .malformed(let error): throw .smp(.ask(.malformed(error.description, what)))
        case .link(let failure): throw .smp(.ask(.link(failure)))
        }
    }

    private static func read<Value>(
        _ what: String,
        _ body: () throws(SMPReplyError) -> Value
    ) throws(ModuleError) -> Value {
        do throws(SMPReplyError) { return try body() } catch {
            throw .smp(.ask(.malformed(error.description, what)))
        }
    }
}
