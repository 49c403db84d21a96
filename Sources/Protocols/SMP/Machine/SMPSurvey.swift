package import Domain
package import Sessions
import Wire

/// What a device says about itself before an update.
package struct SMPFindings: Equatable, Sendable {
    /// Nil when the device does not tell.
    package var parameters: SMPParameters?
    /// Nil when the device does not tell: then it is taken to swap and to revert.
    package var bootloader: SMPBootloaderInfo?
    package var slots: SMPSlotInfo?
    package var list: SMPImageList
    /// The device puts messages together from several writes.
    package var reassembles: Bool
    /// It has not refused a mark yet: of use where it does not say what its bootloader does.
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

/// Why a question came to nothing.
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

/// Asks a device on one link what it is and has: buffers, bootloader, slots, images.
///
/// Only the list of images is needed; all else is asked of those that can answer.
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
        /// Does a message arrive that one write does not hold? Next: `ended`.
        case probing
        case ended
    }

    package enum Action: Equatable, Sendable {
        /// Ask this, so often at most and so long each time, and tell `answered`.
        case ask(SMPRequest, tries: Int, limit: Duration)
        case found(SMPFindings)
        case failed(SMPAskError)
    }

    private static let limit = Duration.seconds(5)
    /// Half a message is never answered: waiting long for it would cost every such device.
    private static let probeLimit = Duration.seconds(2)

    package private(set) var state = State.idle
    private let maximumLength: Int
    private var findings = SMPFindings(list: SMPImageList(images: []))
    private let known: SMPFindings?
    private var probe = ""

    /// A survey on a link that carries so many bytes at once.
    ///
    /// What is `known` from an earlier one of the same firmware is not asked again.
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
        // One that does not tell its buffers may still put messages together: asked where nothing
        // else would do.
        let needed = SMPSettings.carriesOpening(maximumLength) ? nil : SMPNumbers.defaultBufferSize
        guard let size = findings.parameters?.bufferSize ?? needed, size > maximumLength else {
            return end()
        }
        // Its second part reads as an answer, which a device that takes it for a message passes
        // over: 'a' is an operation of the other direction.
        let overhead = SMPHeader.length + 1 + 2 + 3
        let length = min(size, maximumLength + 24) - overhead
        state = .probing
        probe = String(repeating: "a", count: max(1, length))
        return .ask(.echo(probe), tries: 2, limit: Self.probeLimit)
    }

    /// Whether this is the answer of a device that got the whole of what came in two writes.
    ///
    /// One that takes the first of them for all of the message may say so, by one of its errors.
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

    /// What a device may leave out, or tell in a way of its own.
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
