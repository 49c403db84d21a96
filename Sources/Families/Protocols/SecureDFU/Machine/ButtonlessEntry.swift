package import Base
package import Radio

/// Makes a running application start its bootloader, under a name by which we find it.
///
/// The module restarts as soon as its last indication is confirmed. So a link that ends after the
/// request counts as success: whether the bootloader runs is seen in its advertisement, not here.
package struct ButtonlessEntry: Sendable {
    package enum State: Equatable, Sendable {
        /// Next: `subscribing`.
        case idle
        /// Indications are being enabled.
        ///
        /// Next: `naming`, `entering`, `failed`.
        case subscribing
        /// The bootloader's name is being set. Next: `entering`, `failed`.
        case naming(BootloaderName)
        /// The module received the command to enter the bootloader.
        ///
        /// Next: `entered`, `failed`.
        case entering(Entry)
        case entered(Entry)
        case failed(ButtonlessError)
    }

    /// The name that the bootloader will advertise.
    package enum Entry: Equatable, Sendable {
        case named(BootloaderName)
        /// The module supports no names, so the bootloader can be found only by the address after
        /// its own.
        case nameNotSupported
        /// No name was requested.
        case unnamed
    }

    package enum Action: Equatable, Sendable {
        case subscribe
        /// Write, then wait for an indication.
        case write(ButtonlessRequest)
        /// Continue to wait for an indication.
        case wait
        case entered(Entry)
        case failed(ButtonlessError)
    }

    private static let nameOperation: UInt8 = 0x02
    private static let enterOperation: UInt8 = 0x01

    package private(set) var state = State.idle
    /// When `timeout` is due; nil before the beginning and after the end.
    package private(set) var deadline: Moment?
    private let name: BootloaderName?
    private let mayGoUnnamed: Bool
    private let limit: Duration

    /// With `mayGoUnnamed`, a module that supports no names may continue; otherwise that is an
    /// error, because several bootloaders without names cannot be told apart.
    package init(
        name: BootloaderName?,
        mayGoUnnamed: Bool = false,
        limit: Duration = .seconds(10)
    ) {
        self.name = name
        self.mayGoUnnamed = mayGoUnnamed
        self.limit = limit
    }

    package mutating func begin(at now: Moment) -> Action {
        switch state {
        case .idle: go(to: .subscribing, .subscribe, at: now)
        case .subscribing, .naming, .entering, .entered, .failed: result
        }
    }

    package mutating func subscribed(at now: Moment) -> Action {
        switch state {
        case .subscribing:
            guard let name else { return enter(.unnamed, at: now) }
            return go(to: .naming(name), .write(.setName(name)), at: now)
        case .idle, .naming, .entering, .entered, .failed:
            return result
        }
    }

    package mutating func indicated(_ bytes: [UInt8], at now: Moment) -> Action {
        switch state {
        case .naming(let name):
            guard let response = ButtonlessResponse(bytes) else { return fail(.malformed(bytes)) }
            guard response.operation == Self.nameOperation else { return stray(at: now) }
            switch response.result {
            case .success:
                return enter(.named(name), at: now)
            case .notSupported where mayGoUnnamed:
                return enter(.nameNotSupported, at: now)
            case .notSupported, .failed, .badName, .busy, .notBonded:
                return fail(.refused(.naming, response.result))
            }
        case .entering(let entry):
            guard let response = ButtonlessResponse(bytes) else { return fail(.malformed(bytes)) }
            guard response.operation == Self.enterOperation else { return stray(at: now) }
            guard response.result == .success else {
                return fail(.refused(.entering, response.result))
            }
            return end(entry)
        case .idle, .subscribing, .entered, .failed:
            return result
        }
    }

    package mutating func linkFailed(_ failure: LinkFailure, at now: Moment) -> Action {
        switch state {
        case .entering(let entry):
            return failure == .lost ? end(entry) : fail(.link(failure))
        case .idle, .subscribing, .naming:
            return fail(.link(failure))
        case .entered, .failed:
            return result
        }
    }

    package mutating func timeout(at now: Moment) -> Action {
        switch state {
        case .subscribing, .naming, .entering: stray(at: now)
        case .idle, .entered, .failed: result
        }
    }

    /// An event that changes nothing: an answer to another request; or the deadline is over.
    private mutating func stray(at now: Moment) -> Action {
        guard let deadline, now >= deadline else { return .wait }
        switch state {
        case .naming: return fail(.noAnswer(.naming))
        case .entering: return fail(.noAnswer(.entering))
        case .idle, .subscribing, .entered, .failed: return fail(.link(.timedOut))
        }
    }

    private var result: Action {
        switch state {
        case .idle, .subscribing, .naming, .entering: .wait
        case .entered(let entry): .entered(entry)
        case .failed(let error): .failed(error)
        }
    }

    private mutating func enter(_ entry: Entry, at now: Moment) -> Action {
        go(to: .entering(entry), .write(.enterBootloader), at: now)
    }

    private mutating func go(to next: State, _ action: Action, at now: Moment) -> Action {
        state = next
        deadline = now.advanced(by: limit)
        return action
    }

    private mutating func end(_ entry: Entry) -> Action {
        deadline = nil
        state = .entered(entry)
        return .entered(entry)
    }

    private mutating func fail(_ error: ButtonlessError) -> Action {
        deadline = nil
        state = .failed(error)
        return .failed(error)
    }
}

/// Why a module did not enter its bootloader.
package enum ButtonlessError: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Request: String, Hashable, Sendable { case naming, entering }

    case refused(Request, ButtonlessResponse.Result)
    case malformed([UInt8])
    /// No answer to the request arrived; a module that received the command may still enter the
    /// bootloader.
    case noAnswer(Request)
    case link(LinkFailure)

    package var failureClass: FailureClass {
        switch self {
        case .refused(_, .busy), .noAnswer: .transient
        case .refused(_, .notBonded): .rejected
        case .refused(_, .success), .refused(_, .notSupported), .refused(_, .failed),
            .refused(_, .badName), .malformed:
            .device
        case .link(let failure): failure.failureClass
        }
    }

    package var description: String {
        switch self {
        case .refused(.naming, let result): "while naming the bootloader: \(result)"
        case .refused(.entering, let result): "while entering the bootloader: \(result)"
        case .malformed(let bytes):
            "the module's answer to entering the bootloader makes no sense: "
                + Hex.text(bytes.prefix(20))
        case .noAnswer(.naming): "while naming the bootloader: no answer in time"
        case .noAnswer(.entering): "while entering the bootloader: no answer in time"
        case .link(let failure): "while entering the bootloader: \(failure)"
        }
    }
}
