import Domain
import Modules
import Radio
import Rollout

/// Watches the properties of one module through its family's driver: opens it, asks for every property,
/// and looks again whenever it tells of something or a while has passed.
struct PropertyWatch {
    private static let pause = Duration.seconds(2)

    let serial: Serial
    let driver: any UpdateDriver
    let profile: Profile
    /// Those that are wanted; empty for all.
    let names: [String]
    let central: any Central
    let time: any Timekeeper
    let stop: StopSignal

    private var wanted: [PropertySpec] {
        profile.properties.filter { spec in
            spec.access.isReadable && (names.isEmpty || names.contains(spec.name))
        }
    }

    /// Until `end`, over lost links; why it ended before that, in words.
    func follow(
        until end: Moment,
        tell: (PropertyReading, String?) -> Void,
        lost: () -> Void
    ) async -> String? {
        var known: [String: PropertyValue] = [:]
        var hasOpened = false
        while time.now < end, !stop.isRequested {
            do {
                try await visit(until: end, &known, &hasOpened, tell)
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
        until end: Moment,
        _ known: inout [String: PropertyValue],
        _ hasOpened: inout Bool,
        _ tell: (PropertyReading, String?) -> Void
    ) async throws {
        let seeker = ModuleSeeker(central: central, time: time)
        let (stop, deadline) = (stop, min(end, time.now.advanced(by: .seconds(60))))
        let found: ModuleSighting?
        do throws(RadioError) {
            found = try await seeker.seek(
                serial,
                by: driver,
                before: deadline,
                unless: { stop.isRequested }
            )
        } catch { throw ModuleError.radio(error) }
        if stop.isRequested { return }
        guard let found else { throw ModuleError.radio(.timedOut) }
        let link: any Link
        do throws(RadioError) {
            link = try await central.connect(
                to: found.peer,
                before: time.now.advanced(by: .seconds(30))
            )
        } catch { throw ModuleError.radio(error) }
        let application: any ModuleApplication
        do {
            application = try await driver.application(on: link, time: time)
        } catch {
            await link.disconnect()
            throw error
        }
        hasOpened = true
        do {
            try await read(application, until: end, &known, tell)
            await application.disconnect()
        } catch {
            await application.disconnect()
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
