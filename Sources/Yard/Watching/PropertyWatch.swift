package import Base
package import Radio
package import Rollout

/// Watches the properties of one module through its family's driver: opens it, reads every
/// property, and reads again when it reports a change or some time has passed.
package struct PropertyWatch {
    private static let pause = Duration.seconds(2)

    let serial: Serial
    let driver: any UpdateDriver
    let profile: Profile
    /// The properties to watch; empty for all.
    let names: [String]
    let central: any Central
    let time: any Timekeeper
    let stop: StopSignal

    package init(
        serial: Serial,
        driver: any UpdateDriver,
        profile: Profile,
        names: [String],
        central: any Central,
        time: any Timekeeper,
        stop: StopSignal
    ) {
        self.serial = serial
        self.driver = driver
        self.profile = profile
        self.names = names
        self.central = central
        self.time = time
        self.stop = stop
    }

    private var wanted: [PropertySpec] {
        profile.properties.filter { spec in
            spec.access.isReadable && (names.isEmpty || names.contains(spec.name))
        }
    }

    /// Watches until `end`, over lost links; returns why it ended earlier.
    package func follow(
        until end: Moment,
        tell: (PropertyReading, String?) -> Void,
        lost: () -> Void
    ) async -> String? {
        let link = VehicleLink(to: serial, central, time, bond: profile.unattendedBond)
        var known: [String: PropertyValue] = [:]
        var hasOpened = false
        while time.now < end, !stop.isRequested {
            do {
                try await visit(link, until: end, &known, &hasOpened, tell)
                return nil
            } catch let error as ModuleError {
                guard hasOpened, error != .radio(.cancelled) else { return error.description }
                lost()
                await time.sleep(for: Self.pause, "the next link")
            } catch {
                return "\(error)"
            }
        }
        return nil
    }

    private func visit(
        _ link: VehicleLink,
        until end: Moment,
        _ known: inout [String: PropertyValue],
        _ hasOpened: inout Bool,
        _ tell: (PropertyReading, String?) -> Void
    ) async throws {
        let (stop, deadline) = (stop, min(end, time.now.advanced(by: .seconds(60))))
        let application: any ModuleApplication
        do throws(ModuleError) {
            application = try await link.present(
                driver,
                before: deadline,
                unless: { stop.isRequested }
            )
        } catch {
            await link.leave()
            if stop.isRequested { return }
            throw error
        }
        hasOpened = true
        do {
            try await read(application, until: end, &known, tell)
            await link.leave()
        } catch {
            await link.leave()
            throw error
        }
    }

    private func read(
        _ application: any ModuleApplication,
        until end: Moment,
        _ known: inout [String: PropertyValue],
        _ tell: (PropertyReading, String?) -> Void
    ) async throws {
        guard let holder = try await application.properties() else {
            throw ModuleError.value("modules of its family have no properties")
        }
        while time.now < end, !stop.isRequested {
            for spec in wanted {
                let value: PropertyValue
                do throws(PropertyReadError) {
                    value = try await holder.read(spec.name)
                } catch {
                    guard case .module(let failure) = error else { continue }
                    throw failure
                }
                guard known[spec.name] != value else { continue }
                known[spec.name] = value
                tell(PropertyReading(spec.name, value), spec.unit)
            }
            let next = min(end, time.now.advanced(by: Self.pause))
            do throws(PropertyReadError) {
                _ = try await holder.changes(before: next)
            } catch {
                guard case .module(let failure) = error else { continue }
                throw failure
            }
        }
    }
}
