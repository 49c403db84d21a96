package import Base

/// The kinds of event that a recipient can choose.
package enum NotifyKind: String, CaseIterable, Sendable, Hashable {
    /// A run has ended as expected.
    case ended
    /// Vehicles failed, the rollout was aborted, or there was no run.
    case failed
    case paused
    /// A person must check a vehicle, however the run ended.
    case needsPerson = "needs-person"
    /// Nothing was received from a rollout that should have run.
    case silent
    /// A test of the delivery.
    case test
}

/// Who is notified of how runs end.
package struct NotifyPolicy: Sendable, Hashable {
    package var targets: [NotifyTarget] = []
    package var silentAfter: Duration?
    package var sendmail: String?

    package init() {}

    /// This policy with the settings of another one, which take precedence; targets with the same
    /// name are replaced.
    package func overruled(by other: NotifyPolicy) -> NotifyPolicy {
        var policy = self
        let names = Set(other.targets.map(\.name))
        policy.targets = targets.filter { !names.contains($0.name) } + other.targets
        policy.silentAfter = other.silentAfter ?? silentAfter
        policy.sendmail = other.sendmail ?? sendmail
        return policy
    }

    package func target(_ name: String) -> NotifyTarget? { targets.first { $0.name == name } }
}

/// One recipient.
package struct NotifyTarget: Sendable, Hashable {
    package enum Way: Sendable, Hashable {
        case mail(String)
        case webhook(NotifyAddress, key: SecretReference?)
        case ntfy(NotifyAddress)
        case alertmanager(NotifyAddress)
        case healthcheck(NotifyAddress)
        case program([String])
    }

    package let name: String
    package let way: Way
    package let token: SecretReference?
    package let kinds: Set<NotifyKind>

    /// Whether it must get a notice after each run, because it raises an alarm without one.
    package var hearsEachRun: Bool { if case .healthcheck = way { true } else { false } }

    /// The first of these kinds that it wants to receive.
    package func wants(_ kinds: [NotifyKind]) -> NotifyKind? {
        kinds.first { $0 == .test || self.kinds.contains($0) }
    }
}

/// An address for notices.
///
/// Only its host is shown, since often anyone who knows the address can send to it.
package enum NotifyAddress: Sendable, Hashable, CustomStringConvertible {
    case url(String)
    case secret(SecretReference)

    package var description: String {
        switch self {
        case .secret(let reference): return reference.description
        case .url(let text):
            let parts = text.split(separator: "/", maxSplits: 2, omittingEmptySubsequences: false)
            guard parts.count == 3 else { return "an address" }
            let host = parts[2].prefix { !"/?#".contains($0) }
            return "\(parts[0])//\(host.split(separator: "@").last ?? "")/…"
        }
    }
}
