package import Base
package import Radio

/// Proves to a Comodule module, once on every link, that we know its key.
///
/// The module sends 20 random bytes; the response is SHA-1 of these bytes and the key. After a
/// wrong response the module drops the link. On a single link this looks the same as a lost link;
/// `SecretSuspicion` can tell the two apart.
package struct ComoduleAuthentication: Sendable {
    package enum State: Equatable, Sendable {
        /// Next: `asking`.
        case idle
        /// The challenge is being read. Next: `answering`, `failed`.
        case asking
        /// The response is being written. Next: `checking`, `failed`.
        case answering
        /// The result is being read. Next: `authenticated`, `failed`.
        case checking
        case authenticated
        case failed(ComoduleAuthenticationError)
    }

    package enum Action: Equatable, Sendable {
        case readChallenge
        case writeResponse([UInt8])
        case readState
        /// Do nothing: the event belongs to an exchange that is over.
        case wait
        case authenticated
        case failed(ComoduleAuthenticationError)
    }

    static let challengeLength = 20

    package private(set) var state = State.idle
    /// When `timeout` is due; nil before the beginning and after the end.
    package private(set) var deadline: Moment?
    private let key: ComoduleKey
    private let limit: Duration
    private let sha1: @Sendable ([UInt8]) -> [UInt8]

    /// Each exchange may take as long as `limit`.
    package init(
        key: ComoduleKey,
        limit: Duration = .seconds(10),
        sha1: @escaping @Sendable ([UInt8]) -> [UInt8]
    ) {
        self.key = key
        self.limit = limit
        self.sha1 = sha1
    }

    package mutating func begin(at now: Moment) -> Action {
        switch state {
        case .idle:
            return go(to: .asking, .readChallenge, at: now)
        case .asking, .answering, .checking:
            return .wait
        case .authenticated, .failed:
            return result
        }
    }

    package mutating func challengeRead(_ challenge: [UInt8], at now: Moment) -> Action {
        switch state {
        case .asking:
            guard challenge.count == Self.challengeLength else {
                return fail(.challengeLength(challenge.count))
            }
            let response = key.withBytes { sha1(challenge + $0) }
            return go(to: .answering, .writeResponse(response), at: now)
        case .idle, .answering, .checking:
            return .wait
        case .authenticated, .failed:
            return result
        }
    }

    package mutating func responseWritten(at now: Moment) -> Action {
        switch state {
        case .answering:
            return go(to: .checking, .readState, at: now)
        case .idle, .asking, .checking:
            return .wait
        case .authenticated, .failed:
            return result
        }
    }

    package mutating func stateRead(_ value: [UInt8], at now: Moment) -> Action {
        switch state {
        case .checking:
            switch value {
            case [1]:
                deadline = nil
                state = .authenticated
                return .authenticated
            case [0]:
                return fail(.refused)
            case _:
                return fail(.unknownState(value.first, length: value.count))
            }
        case .idle, .asking, .answering:
            return .wait
        case .authenticated, .failed:
            return result
        }
    }

    package mutating func linkFailed(_ failure: LinkFailure, at now: Moment) -> Action {
        switch state {
        case .idle, .asking:
            return fail(.link(failure))
        case .answering, .checking:
            return fail(failure == .lost ? .refusedOrLost : .link(failure))
        case .authenticated, .failed:
            return result
        }
    }

    package mutating func timeout(at now: Moment) -> Action {
        switch state {
        case .idle:
            return .wait
        case .asking, .answering, .checking:
            guard let deadline, now >= deadline else { return .wait }
            return fail(.link(.timedOut))
        case .authenticated, .failed:
            return result
        }
    }

    private var result: Action {
        switch state {
        case .idle, .asking, .answering, .checking: .wait
        case .authenticated: .authenticated
        case .failed(let error): .failed(error)
        }
    }

    private mutating func go(to next: State, _ action: Action, at now: Moment) -> Action {
        state = next
        deadline = now.advanced(by: limit)
        return action
    }

    private mutating func fail(_ error: ComoduleAuthenticationError) -> Action {
        deadline = nil
        state = .failed(error)
        return .failed(error)
    }
}

/// Why a link to a Comodule module is not authenticated.
package enum ComoduleAuthenticationError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The module reports that the response was wrong.
    case refused
    /// The link ended right after the response: the response was refused, or the link was lost at
    /// that moment.
    case refusedOrLost
    /// Not 20 bytes.
    case challengeLength(Int)
    /// Neither 0 nor 1, or not one byte.
    case unknownState(UInt8?, length: Int)
    case link(LinkFailure)

    package var failureClass: FailureClass {
        switch self {
        case .refused: .rejected
        case .refusedOrLost: .transient
        case .challengeLength, .unknownState: .device
        case .link(let failure): failure.failureClass
        }
    }

    package var description: String {
        switch self {
        case .refused: "the module refuses the key"
        case .refusedOrLost: "the link ended right after the module was given the key's response"
        case .challengeLength(let count): "the module's challenge has \(count) bytes, not 20"
        case .unknownState(let value?, length: 1):
            "the module reports the unknown authentication state \(value)"
        case .unknownState(_, let length):
            "the module's authentication state has \(length) bytes, not 1"
        case .link(let failure): "\(failure)"
        }
    }
}
