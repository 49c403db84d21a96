package import Base
package import Radio

/// The properties of a Comodule module, read and written over an authenticated link.
package actor ComoduleProperties: PropertyHolder {
    /// How long after a write the module may take to return the new value.
    private static let settling = Duration.seconds(2)
    private static let look = Duration.milliseconds(100)

    package nonisolated let profile: Profile
    /// The firmware variant as text: it says which of several vehicle models this is.
    package nonisolated let variant: String?
    private let client: ComoduleClient
    private let time: any Timekeeper
    /// The last value of each property that was read or notified: only changes are reported.
    private var known: [String: PropertyValue] = [:]
    /// The properties that each register contains, by the id of its record.
    private let byRegister: [UInt16: [PropertySpec]]

    package init(
        client: ComoduleClient,
        profile: Profile,
        variant: Int? = nil,
        time: any Timekeeper
    ) {
        self.client = client
        self.profile = profile
        self.variant = variant.map(String.init)
        self.time = time
        byRegister = profile.registers(variant: self.variant)
    }

    package nonisolated func property(_ name: String) -> PropertySpec? {
        profile.property(name, variant: variant)
    }

    package func read(_ name: String) async throws(PropertyReadError) -> PropertyValue {
        guard let spec = property(name) else {
            throw .propertyNotFound(name, nearest: profile.nearestProperty(to: name))
        }
        guard let source = spec.source else { throw .propertyWriteOnly(name) }
        let record: ComoduleRecord?
        do throws(ModuleError) { record = try await client.record(source.register) } catch {
            throw .module(error)
        }
        guard let record, let value = spec.value(in: record.data) else { throw .missing(name) }
        known[name] = value
        return value
    }

    /// Reads every readable property, in the profile's order and each register once.
    ///
    /// Properties whose record the module does not have are left out. `lacking` are registers known
    /// to be missing.
    package func readAll(
        but lacking: Set<UInt16> = []
    ) async throws(PropertyReadError) -> [PropertyReading] {
        let specs = profile.properties(variant: variant)
        var records: [UInt16: ComoduleRecord] = [:]
        let wanted = Set(specs.compactMap { $0.source?.register }).subtracting(lacking)
        for register in wanted.sorted() {
            do throws(ModuleError) { records[register] = try await client.record(register) } catch {
                throw .module(error)
            }
        }
        return specs.compactMap { spec in
            guard let source = spec.source, let record = records[source.register],
                let value = spec.value(in: record.data)
            else { return nil }
            known[spec.name] = value
            return PropertyReading(spec.name, value)
        }
    }

    @discardableResult
    package func write(
        _ value: PropertyValue,
        to name: String
    ) async throws(PropertyWriteError) -> PropertyValue {
        guard let spec = property(name) else {
            throw .propertyNotFound(name, nearest: profile.nearestProperty(to: name))
        }
        try spec.check(value)
        guard let target = spec.target else { throw .propertyNotWritable(name) }
        do throws(ModuleError) {
            var data = try await command(target.register, besides: spec)
            guard spec.put(value, into: &data) else { throw .value("\(name) has no room") }
            try await client.write(ComoduleRecord(id: target.register, data: data))
        } catch { throw .module(error) }
        guard spec.access.isReadable else { return value }
        let found: PropertyValue
        do throws(ModuleError) { found = try await readBack(spec, value) } catch {
            throw .module(error)
        }
        guard found == value else { throw .notTaken(name, found: found) }
        return found
    }

    /// The data of a command record that changes nothing: every other property in the same record
    /// has the module's current value.
    private func command(
        _ register: UInt16,
        besides spec: PropertySpec
    ) async throws(ModuleError) -> [UInt8] {
        let specs = profile.properties(variant: variant)
        var records: [UInt16: [UInt8]] = [:]
        let others = specs.filter { $0.target?.register == register && $0 != spec }
        let isReadable = specs.contains { $0.source?.register == register }
        let needed = Set(others.compactMap { $0.source?.register } + (isReadable ? [register] : []))
        for id in needed.sorted() {
            records[id] = try await client.record(id)?.data
        }
        var data = records[register] ?? [UInt8](repeating: 0, count: 8)
        for other in others {
            var now = other.initial
            if let source = other.source {
                now = records[source.register].flatMap { other.value(in: $0) }
                guard now != nil else {
                    throw .value(
                        "the present \(other.name) cannot be read, and would be overwritten"
                    )
                }
            }
            if let now { _ = other.put(now, into: &data) }
        }
        return data
    }

    /// Reads until the module returns the written value; at the deadline the last value counts.
    private func readBack(
        _ spec: PropertySpec,
        _ value: PropertyValue
    ) async throws(ModuleError) -> PropertyValue {
        guard let source = spec.source else { return value }
        let deadline = time.now.advanced(by: Self.settling)
        while true {
            guard let record = try await client.record(source.register),
                let found = spec.value(in: record.data)
            else { throw .value("the module has no record of what was written") }
            known[spec.name] = found
            if found == value { return found }
            guard time.now < deadline else { return found }
            await time.sleep(for: Self.look, "\(spec.name) to be taken")
        }
    }

    package func changes(
        before deadline: Moment
    ) async throws(PropertyReadError) -> [PropertyReading] {
        while true {
            let record: ComoduleRecord?
            do throws(ModuleError) {
                record = try await client.notification(before: deadline)
            } catch { throw .module(error) }
            guard let record else {
                if time.now >= deadline { return [] }
                continue
            }
            let changed = take(record)
            if !changed.isEmpty { return changed }
        }
    }

    /// Takes a record that the module sent unasked; returns the properties that changed.
    package func take(_ record: ComoduleRecord) -> [PropertyReading] {
        var changed: [PropertyReading] = []
        for spec in byRegister[record.id] ?? [] {
            guard let value = spec.value(in: record.data), known[spec.name] != value else {
                continue
            }
            known[spec.name] = value
            changed.append(PropertyReading(spec.name, value))
        }
        return changed
    }
}
