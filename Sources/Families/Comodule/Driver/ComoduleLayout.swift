package import Domain
package import Modules

/// Where a Comodule module has its characteristics.
package struct ComoduleLayout: Sendable, Equatable {
    package var notifier = ComoduleNumbers.notifier
    package var register = ComoduleNumbers.register
    package var selector = ComoduleNumbers.selector
    package var key = ComoduleNumbers.key
    package var challenge = ComoduleNumbers.challenge
    package var response = ComoduleNumbers.response
    package var authenticated = ComoduleNumbers.authenticated

    /// As the one product has them that is publicly described.
    package init() {}

    /// As a profile has them; nil for one of another family.
    package init?(_ gatt: GATTForm) {
        guard let notifier = gatt.characteristic(.notifier),
            let register = gatt.characteristic(.register),
            let selector = gatt.characteristic(.selector),
            let key = gatt.characteristic(.key),
            let challenge = gatt.characteristic(.challenge),
            let response = gatt.characteristic(.response),
            let authenticated = gatt.characteristic(.authenticated)
        else { return nil }
        self.notifier = notifier
        self.register = register
        self.selector = selector
        self.key = key
        self.challenge = challenge
        self.response = response
        self.authenticated = authenticated
    }

    /// All of them, in the order in which they are needed: for finding out what is missing.
    package var all: [Characteristic] {
        [challenge, response, authenticated, key, selector, register, notifier]
    }
}

/// Who may go on: one at a time, the others in the order in which they came.
struct AccessQueue {
    private(set) var isTaken = false
    private var waiting: [CheckedContinuation<Void, Never>] = []

    mutating func take() { isTaken = true }

    mutating func wait(_ continuation: CheckedContinuation<Void, Never>) {
        waiting.append(continuation)
    }

    /// Hands the turn on: it stays taken when somebody waits for it.
    mutating func end() {
        if waiting.isEmpty { isTaken = false } else { waiting.removeFirst().resume() }
    }
}
