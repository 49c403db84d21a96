import Base

/// A fault of a simulated module that happens by script a number of times.
package struct ScriptedFault<FaultKind: Sendable & Equatable>: Sendable, Equatable {
    package typealias Kind = FaultKind

    package var kind: Kind
    /// How often it happens.
    package var times = 1

    package init(_ kind: Kind, times: Int = 1) {
        self.kind = kind
        self.times = times
    }
}

/// What a depot's file can let go wrong with the modules of a family.
package protocol FaultKind: Sendable, Equatable {
    /// A fault as a depot's file writes it, for messages.
    static var example: String { get }

    /// Reads the family's keys of a fault.
    static func read(_ reader: inout FaultReader<Self>)
}

/// What can go wrong with modules that a central connects to.
package protocol ModuleFaultKind: FaultKind {
    /// A connection attempt fails.
    static var connectFails: Self { get }
    /// Where an exchange ends early; nil for other faults.
    var cut: Cut? { get }
}

extension ModuleFaultKind {
    package var cut: Cut? { nil }
}

/// What can go wrong with modules that take images.
package protocol UpdateFaultKind: ModuleFaultKind {
    static func cut(_ cut: Cut) -> Self
}

extension UpdateFaultKind {
    package static var example: String { "link-lost-at: 20KiB" }

    /// The link ends when this many bytes of an image have arrived.
    package static func linkLost(at byte: Int) -> Self { .cut(.byte(byte, .linkLost)) }
    /// The module stops answering at this byte, and the link times out.
    package static func silent(at byte: Int) -> Self { .cut(.byte(byte, .silence)) }
    /// It restarts at this byte, and most modules lose the bytes that they had.
    package static func restart(at byte: Int) -> Self { .cut(.byte(byte, .restart)) }
    /// The read or write with this number ends early, before or after it is carried out.
    package static func breaks(_ kind: LinkBreak, atExchange number: Int, isBefore: Bool) -> Self {
        .cut(.exchange(number, kind, isBefore: isBefore))
    }
}

/// The moment at which a link breaks by script.
package enum Cut: Sendable, Equatable {
    /// This many bytes of an image have arrived.
    case byte(Int, LinkBreak)
    /// Before or after the exchange with this number is carried out.
    case exchange(Int, LinkBreak, isBefore: Bool)
}

/// A way in which an exchange ends early.
package enum LinkBreak: Sendable, Equatable, CaseIterable {
    case linkLost
    /// The module answers nothing until the link times out.
    case silence
    /// It restarts in its current role.
    case restart
}
