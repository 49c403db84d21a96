package import Base
package import Radio

/// The characteristics of a Comodule module.
package struct ComoduleLayout: Sendable, Equatable {
    package var notifier = ComoduleNumbers.notifier
    package var register = ComoduleNumbers.register
    package var selector = ComoduleNumbers.selector
    package var key = ComoduleNumbers.key
    package var challenge = ComoduleNumbers.challenge
    package var response = ComoduleNumbers.response
    package var authenticated = ComoduleNumbers.authenticated

    /// The layout of the only product that is publicly described.
    package init() {}

    /// The layout of a profile; nil for a profile of another family.
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

    /// All characteristics in the order in which they are needed, to find the first that is
    /// missing.
    package var all: [Characteristic] {
        [challenge, response, authenticated, key] + registers
    }

    /// Those of a module without authentication.
    package var registers: [Characteristic] { [selector, register, notifier] }
}
