package import Base
package import Radio

/// The facts that a device reports about itself before an update.
package struct SMPFindings: Equatable, Sendable {
    /// Nil when the device does not report them.
    package var parameters: SMPParameters?
    /// Nil when the device does not report it: then we assume that it swaps and reverts.
    package var bootloader: SMPBootloaderInfo?
    package var slots: SMPSlotInfo?
    package var list: SMPImageList
    /// Whether the device reassembles messages from several writes.
    package var reassembles: Bool
    /// Whether the device has not refused a mark so far: used when it does not report its
    /// bootloader's mode.
    package var knowsMarks = true

    package init(
        parameters: SMPParameters? = nil,
        bootloader: SMPBootloaderInfo? = nil,
        slots: SMPSlotInfo? = nil,
        list: SMPImageList,
        reassembles: Bool = false
    ) {
        self.parameters = parameters
        self.bootloader = bootloader
        self.slots = slots
        self.list = list
        self.reassembles = reassembles
    }

    package var canRevert: Bool { bootloader?.mode?.canRevert ?? true }
    package var isMarked: Bool { bootloader?.mode?.isMarked ?? knowsMarks }
}

/// Why a request failed.
package enum SMPAskError: Error, Hashable, Sendable, CustomStringConvertible {
    case refused(SMPFault, String)
    case noAnswer(String)
    case malformed(String, String)
    case link(LinkFailure)

    package var failureClass: FailureClass {
        switch self {
        case .refused(let fault, _): fault.failureClass
        case .noAnswer: .transient
        case .malformed: .device
        case .link(let failure): failure.failureClass
        }
    }

    package var description: String {
        switch self {
        case .refused(let fault, let what): "\(what): the module refused: \(fault)"
        case .noAnswer(let what): "\(what): no answer in time"
        case .malformed(let why, let what): "\(what): \(why)"
        case .link(let failure): failure.description
        }
    }
}

/// Asks a device on one link for its buffers, bootloader, slots and images.
///
/// Only the list of images is required; the others are optional.
package struct SMPSurvey: Sendable {
    package enum State: Equatable, Sendable {
        /// Next: `parameters`.
        case idle
        /// Next: `bootloader`.
        case parameters
        /// Next: `slots`.
        case bootloader
        /// Next: `list`.
        case slots
        /// Next: `probing`, `ended`.
        case list
        /// Testing whether a message that needs several writes arrives.
        ///
        /// Next: `ended`.
        case probing
        case ended
    }

    package enum Action: Equatable, Sendable {
        /// Send this request at most `tries` times, wait `limit` each time, and call `answered`.
        case ask(SMPRequest, tries: Int, limit: Duration)
        case found(SMPFindings)
        case failed(SMPAskError)
    }

    private static let limit = Duration.seconds(5)
    /// A partial message is never answered, so a long limit would cost time with every such device.
    private static let probeLimit = Duration.seconds(2)

    package private(set) var state = State.idle
    private let maximumLength: Int
    private var findings = SMPFindings(list: SMPImageList(images: []))
    private let known: SMPFindings?
    private var probe = ""

    /// A survey on a link whose writes carry `maximumLength` bytes.
    ///
    /// Facts that are `known` from an earlier survey of the same firmware are not requested again.
    package init(maximumLength: Int, known: SMPFindings? = nil) {
        self.maximumLength = maximumLength
        self.known = known
    }

    package mutating func begin() -> Action {
        if let known {
            findings = known
            return ask(.imageState, in: .list)
        }
        return ask(.parameters, in: .parameters)
    }

    package mutating func answered(_ ending: SMPExchange.Ending) -> Action {
        if case .link(let failure) = ending { return fail(.link(failure)) }
        switch state {
        case .idle, .ended: return .failed(.noAnswer("asking"))
        case .parameters:
            if case .unanswered = ending { return fail(.noAnswer("asking for the buffers")) }
            findings.parameters = optional(ending) { (body) throws(SMPReplyError) in
                try SMPParameters(body)
            }
            return ask(.bootloaderInfo(query: "mode"), in: .bootloader)
        case .bootloader:
            findings.bootloader = optional(ending) { (body) throws(SMPReplyError) in
                try SMPBootloaderInfo(body)
            }
            return ask(.slotInfo, in: .slots)
        case .slots:
            findings.slots = optional(ending) { (body) throws(SMPReplyError) in
                try SMPSlotInfo(body)
            }
            return ask(.imageState, in: .list)
        case .list: return listed(ending)
        case .probing:
            findings.reassembles = hasArrivedWhole(ending)
            return end()
        }
    }

    private mutating func listed(_ ending: SMPExchange.Ending) -> Action {
        let what = "asking for the images"
        switch ending {
        case .refused(let fault): return fail(.refused(fault, what))
        case .unanswered: return fail(.noAnswer(what))
        case .malformed(let error): return fail(.malformed(error.description, what))
        case .link(let failure): return fail(.link(failure))
        case .answered(let reply):
            do throws(SMPReplyError) {
                findings.list = try SMPImageList(reply.body)
            } catch { return fail(.malformed(error.description, what)) }
        }
        guard known == nil else { return end() }
        // A device that does not report its buffers may still reassemble messages: test this where
        // writes alone are too short.
        let needed = SMPSettings.carriesOpening(maximumLength) ? nil : SMPNumbers.defaultBufferSize
        guard let size = findings.parameters?.bufferSize ?? needed, size > maximumLength else {
            return end()
        }
        // The second part looks like an answer. A device that takes it for a message ignores it:
        // 'a' is an operation of the other direction.
        let overhead = SMPHeader.length + 1 + 2 + 3
        let length = min(size, maximumLength + 24) - overhead
        state = .probing
        probe = String(repeating: "a", count: max(1, length))
        return .ask(.echo(probe), tries: 2, limit: Self.probeLimit)
    }

    /// Whether this is the answer of a device that received the whole of a message in two writes.
    ///
    /// A device that takes the first write for the whole message may answer with one of its errors.
    private func hasArrivedWhole(_ ending: SMPExchange.Ending) -> Bool {
        switch ending {
        case .answered(let reply): reply.body["r"]?.text == probe
        case .refused(.code(.corrupt, _)), .refused(.code(.tooLong, _)),
            .refused(.code(.noMemory, _)), .refused(.code(.timedOut, _)):
            false
        case .refused: true
        case .unanswered, .malformed, .link: false
        }
    }

    /// The value of an optional answer; nil when the device does not answer in the expected form.
    private func optional<Value>(
        _ ending: SMPExchange.Ending,
        _ read: (CBORValue) throws(SMPReplyError) -> Value
    ) -> Value? {
        guard case .answered(let reply) = ending else { return nil }
        return try? read(reply.body)
    }

    private mutating func ask(_ request: SMPRequest, in next: State) -> Action {
        state = next
        return .ask(request, tries: 3, limit: Self.limit)
    }

    private mutating func end() -> Action {
        state = .ended
        return .found(findings)
    }

    private mutating func fail(_ error: SMPAskError) -> Action {
        state = .ended
        return .failed(error)
    }
}
