package import Radio

/// Our agent, which answers BlueZ's questions about pairing as nobody else is there to be asked, and
/// whose turn it is to pair.
///
/// It is not registered before it is needed: another program's agent is only passed over for
/// modules that are to be bonded. One pairing at a time, because BlueZ refuses a second one.
package struct AgentMachine: Equatable {
    package typealias Ticket = UInt64

    /// What we can do, by which BlueZ and the module choose how to pair.
    package enum Capability: String, Equatable, Sendable {
        case none = "NoInputNoOutput"
        case keyboard = "KeyboardOnly"

        package init(for pairing: Pairing) {
            switch pairing {
            case .none, .justWorks: self = .none
            case .passkey: self = .keyboard
            }
        }
    }

    package enum Step: Equatable, Sendable {
        case unregister
        case register(Capability)
        /// Ours is asked when a central pairs with us; who pairs by a call is asked himself.
        case beDefault
    }

    package enum Action: Equatable {
        case perform(Step)
        /// The ticket's pairing may begin.
        case begin(Ticket)
        /// There is no agent to be had for it.
        case refuse(Ticket)
    }

    private struct Wish: Equatable {
        let ticket: Ticket
        let capability: Capability
    }

    private var registered: Capability?
    private var isDefault = false
    private var step: Step?
    private var current: Wish?
    private var queue: [Wish] = []
    /// For centrals that pair with us, whenever they do.
    private var standing: Capability?

    package init() {}

    /// What a question about a device is answered with.
    package enum Answer: Equatable, Sendable {
        case yes
        case passkey(Passkey)
        case no
    }

    package enum Question: String, Sendable {
        case authorization = "RequestAuthorization"
        case passkey = "RequestPasskey"
        case confirmation = "RequestConfirmation"
        case service = "AuthorizeService"
        case pinCode = "RequestPinCode"
        case showPasskey = "DisplayPasskey"
        case showPinCode = "DisplayPinCode"
    }

    /// Only who has a job of ours gets a yes, and only for what its policy allows.
    package static func answer(_ question: Question, about policy: BondPolicy?) -> Answer {
        switch (question, policy?.pairing) {
        case (.authorization, .justWorks?): .yes
        case (.passkey, .passkey(let passkey)?): .passkey(passkey)
        case (.service, .justWorks?), (.service, .passkey?): .yes
        case (.authorization, _), (.passkey, _), (.service, _), (.confirmation, _), (.pinCode, _),
            (.showPasskey, _), (.showPinCode, _):
            .no
        }
    }

    // MARK: Events

    package mutating func wants(_ ticket: Ticket, _ pairing: Pairing) -> [Action] {
        queue.append(Wish(ticket: ticket, capability: Capability(for: pairing)))
        return settle()
    }

    /// A service is on the air whose centrals may pair.
    package mutating func serves(_ pairing: Pairing) -> [Action] {
        standing = Capability(for: pairing)
        return settle()
    }

    /// The ticket's pairing is over, or was given up before it began.
    package mutating func ended(_ ticket: Ticket) -> [Action] {
        queue.removeAll { $0.ticket == ticket }
        guard current?.ticket == ticket else { return [] }
        current = nil
        return settle()
    }

    package mutating func done(_ step: Step, isRefused: Bool) -> [Action] {
        guard self.step == step else { return [] }
        self.step = nil
        switch step {
        case .unregister: (registered, isDefault) = (nil, false)
        case .register(let capability):
            guard !isRefused else {
                let refused = [current].compactMap { $0 } + queue
                (current, queue, standing) = (nil, [], nil)
                return refused.map { .refuse($0.ticket) }
            }
            registered = capability
        // Without it the agent serves the pairings that we begin.
        case .beDefault: isDefault = true
        }
        return settle()
    }

    /// BlueZ went, and what was registered with it.
    package mutating func voided() {
        (registered, isDefault, step, current) = (nil, false, nil, nil)
        queue = []
        standing = nil
    }

    /// BlueZ has let go of the agent by itself.
    package mutating func released() { (registered, isDefault) = (nil, false) }

    private mutating func settle() -> [Action] {
        guard step == nil, current == nil else { return [] }
        guard let wanted = queue.first?.capability ?? standing else { return [] }
        if let registered, registered != wanted { return begin(.unregister) }
        if registered == nil { return begin(.register(wanted)) }
        if standing != nil, !isDefault { return begin(.beDefault) }
        guard !queue.isEmpty else { return [] }
        let next = queue.removeFirst()
        current = next
        return [.begin(next.ticket)]
    }

    private mutating func begin(_ step: Step) -> [Action] {
        self.step = step
        return [.perform(step)]
    }
}
