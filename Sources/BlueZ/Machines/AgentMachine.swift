package import Radio

/// Our pairing agent, which answers BlueZ's questions without a person, and the queue of pairings.
///
/// The agent is registered at the first connection to a module, and becomes the default one only for
/// centrals that may pair: another program's agent keeps its place. One pairing runs at a time,
/// because BlueZ refuses a second one.
package struct AgentMachine: Equatable {
    package typealias Ticket = UInt64

    /// The capability from which BlueZ and the module choose the pairing method.
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
        /// Makes our agent the default one, which BlueZ asks when a central pairs with us.
        ///
        /// For a pairing that a program starts by a call, BlueZ asks that program's own agent.
        case beDefault
    }

    package enum Action: Equatable {
        case perform(Step)
        /// Begins the pairing of this ticket.
        case begin(Ticket)
        /// No agent could be registered for this ticket.
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
    /// The capability for centrals, which may pair at any time.
    private var standing: Capability?
    /// Whether the agent is wanted with any capability, so that a pairing can be refused.
    private var mustRefuse = false

    package init() {}

    /// The answer to a question about a device.
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

        /// Whether the answer decides about a bond.
        package var isAboutBond: Bool {
            switch self {
            case .authorization, .passkey, .confirmation, .pinCode, .showPasskey, .showPinCode: true
            case .service: false
            }
        }
    }

    /// Agrees only for a device that this program works with, and only to what its policy allows.
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

    /// A service whose centrals may pair is being advertised.
    package mutating func serves(_ pairing: Pairing) -> [Action] {
        standing = Capability(for: pairing)
        return settle()
    }

    /// A module is being connected to.
    ///
    /// If it needs a bond that its settings do not allow, BlueZ must have an agent to ask: otherwise
    /// nobody learns why the module answers nothing.
    package mutating func connects() -> [Action] {
        mustRefuse = true
        return settle()
    }

    /// The pairing of the ticket has ended, or was canceled before it began.
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
                (current, queue, standing, mustRefuse) = (nil, [], nil, false)
                return refused.map { .refuse($0.ticket) }
            }
            registered = capability
        // Even if this was refused, the agent is used for pairings that this program starts.
        case .beDefault: isDefault = true
        }
        return settle()
    }

    /// BlueZ has exited, so the agent is no longer registered.
    package mutating func voided() {
        (registered, isDefault, step, current) = (nil, false, nil, nil)
        queue = []
        (standing, mustRefuse) = (nil, false)
    }

    /// BlueZ has released the agent on its own.
    package mutating func released() { (registered, isDefault) = (nil, false) }

    private mutating func settle() -> [Action] {
        guard step == nil, current == nil else { return [] }
        let least = mustRefuse ? registered ?? Capability.none : nil
        guard let wanted = queue.first?.capability ?? standing ?? least else { return [] }
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
