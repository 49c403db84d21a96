import Base
import Families
import Radio

/// A family of modules that the library does not know, with a wire of its own.
///
/// Its profiles say how its modules are recognised, which properties they have and how they are
/// updated. A property in a place of the wire's own is read with `{value: "0010", bytes: 2}`;
/// `authentication: own` says that a module is opened with a secret, and a part with
/// `protocol: smp` is updated over SMP. Everything else is as with the families of the library.
public struct ModuleFamily: Sendable {
    let family: Family
    let profiles: [ModuleProfile]
    private let wire: any ModuleWire.Type

    /// A family of this name, which its profiles have as `family`; `wire` opens its modules.
    public init(_ name: String, profiles: [ModuleProfile], wire: any ModuleWire.Type) {
        family = Family(rawValue: name)
        self.profiles = profiles
        self.wire = wire
    }

    func add(to library: ProfileLibrary) throws(ModuleFailure) -> ProfileLibrary {
        let name = family.rawValue
        let isWord = name.utf8.allSatisfy { (0x61...0x7A).contains($0) || $0 == 0x2D }
        guard isWord, (1...32).contains(name.utf8.count), !library.families.contains(family) else {
            throw ModuleFailure(
                .invalidValue,
                "`\(name.visible.prefix(64))` cannot be the name of a family",
                "give 1 to 32 of a-z and `-`, and no name that there is already"
            )
        }
        let wire = wire
        return library.adding(.own(family)) { profile, secret in
            SMPModuleUpdate(profile: profile) { (link, time) async throws(ModuleError) in
                let link = ModuleLink(link, time, profile.answerLimit)
                return OwnWire(
                    try await link.attempt {
                        try await wire.open(link, secret: secret.map { ModuleSecret($0) })
                    },
                    on: link
                )
            }
        }
    }
}

/// How modules of a family of your own are opened, read and written, on one link.
///
/// The library makes one call at a time. An error of a `ModuleLink` is passed on as it is thrown;
/// any other error but `ModuleFailure.wrongSecret` means that the module did not do it.
public protocol ModuleWire: Sendable {
    /// Opens the module on a new link: authenticates, where its modules want that.
    ///
    /// A module that refuses the secret is told by `ModuleFailure.wrongSecret`.
    static func open(_ link: ModuleLink, secret: ModuleSecret?) async throws -> Self

    /// The value with this number; nil when the module does not have it.
    func read(_ number: UInt16) async throws -> [UInt8]?

    /// Writes the value with this number; returns when the module has taken it.
    func write(_ bytes: [UInt8], to number: UInt16) async throws
}

/// A link to a module, for a wire of your own: its characteristics by their UUIDs.
public struct ModuleLink: Sendable {
    private let link: any Link
    private let time: any Timekeeper
    private let limit: Duration
    /// The last error of the radio, which a wire may have passed on in words of its own.
    private let trouble = Latest<RadioError?>(nil)

    init(_ link: any Link, _ time: any Timekeeper, _ limit: Duration) {
        self.link = link
        self.time = time
        self.limit = limit
    }

    /// The most bytes in one write or notification.
    public var maximumLength: Int { link.maximumLength }

    /// Reads a characteristic.
    public func read(
        _ characteristic: String,
        of service: String
    ) async throws(ModuleFailure) -> [UInt8] {
        let place = try Self.place(characteristic, service)
        return try await told { () async throws(RadioError) in
            try link.require(place)
            return try await link.read(place, before: time.now.advanced(by: limit))
        }
    }

    /// Writes to a characteristic; with the module's response, where the characteristic has one.
    public func write(
        _ bytes: [UInt8],
        to characteristic: String,
        of service: String
    ) async throws(ModuleFailure) {
        let place = try Self.place(characteristic, service)
        try await told { () async throws(RadioError) in
            try link.require(place)
            if link.flags(of: place)?.contains(.write) ?? false {
                try await link.write(bytes, to: place, before: time.now.advanced(by: limit))
            } else {
                try await link.send(bytes, to: place)
            }
        }
    }

    /// What the characteristic notifies from now on.
    public func notifications(
        of characteristic: String,
        of service: String
    ) async throws(ModuleFailure) -> ModuleNotifications {
        let place = try Self.place(characteristic, service)
        return ModuleNotifications(
            subscription: try await told { () async throws(RadioError) in
                try link.require(place)
                return try await link.subscribe(
                    to: place,
                    before: time.now.advanced(by: limit)
                )
            },
            link: self
        )
    }

    fileprivate func next(
        of subscription: any Subscription,
        within time: Duration?
    ) async throws(ModuleFailure) -> [UInt8] {
        let deadline = self.time.now.advanced(by: time ?? limit)
        return try await told { () async throws(RadioError) in
            try await subscription.next(before: deadline)
        }
    }

    private func told<R>(
        _ body: () async throws(RadioError) -> R
    ) async throws(ModuleFailure) -> R {
        do throws(RadioError) { return try await body() } catch {
            trouble.set(error)
            throw ModuleFailure(error, error.description)
        }
    }

    private static func place(
        _ characteristic: String,
        _ service: String
    ) throws(ModuleFailure) -> Characteristic {
        if let uuid = GATTUUID(characteristic), let service = GATTUUID(service) {
            return Characteristic(uuid, of: service)
        }
        throw ModuleFailure(
            .invalidValue,
            "`\(characteristic.visible.prefix(64))` of `\(service.visible.prefix(64))` is no "
                + "characteristic",
            "give both as UUIDs"
        )
    }

    /// Does one thing on the wire; what goes wrong is told as the rest of the library knows it.
    func attempt<R>(_ body: () async throws -> R) async throws(ModuleError) -> R {
        trouble.set(nil)
        do { return try await body() } catch {
            let failure = error as? ModuleFailure
            if failure == .wrongSecret {
                throw .exchange(
                    ExchangeFault(
                        .authentication,
                        .rejected,
                        secret: .refused,
                        ModuleFailure.wrongSecret.sentence
                    )
                )
            }
            if error is CancellationError { throw .radio(.cancelled) }
            if let radio = trouble.value { throw .radio(radio) }
            throw .value(failure?.sentence ?? "\(error)")
        }
    }
}

/// The values that a characteristic notifies, in order.
public struct ModuleNotifications: Sendable {
    let subscription: any Subscription
    let link: ModuleLink

    /// The next value; throws `timed-out` after this time, or after the profile's limit for an
    /// answer.
    public func next(within time: Duration? = nil) async throws(ModuleFailure) -> [UInt8] {
        try await link.next(of: subscription, within: time)
    }
}

/// The values behind the wire of a program's family.
private struct OwnWire: OwnValues {
    let wire: any ModuleWire
    let link: ModuleLink

    init(_ wire: any ModuleWire, on link: ModuleLink) {
        self.wire = wire
        self.link = link
    }

    func read(_ number: UInt16) async throws(ModuleError) -> [UInt8]? {
        try await link.attempt { try await wire.read(number) }
    }

    func write(_ bytes: [UInt8], to number: UInt16) async throws(ModuleError) {
        try await link.attempt { try await wire.write(bytes, to: number) }
    }
}
