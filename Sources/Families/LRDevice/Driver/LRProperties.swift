package import Base
package import Radio

/// The properties of an LR device: each is the answer to a request that changes nothing.
package final class LRProperties: PropertyHolder {
    package let profile: Profile
    // Steps on one link run one after the other, and so do the requests of this class.
    nonisolated(unsafe) private let client: LRClient
    private let time: any Timekeeper

    init(client: LRClient, profile: Profile, time: any Timekeeper) {
        unsafe self.client = client
        self.profile = profile
        self.time = time
    }

    package func property(_ name: String) -> PropertySpec? { profile.property(name) }

    package func read(_ name: String) async throws(PropertyReadError) -> PropertyValue {
        guard let spec = property(name) else {
            throw .propertyNotFound(name, nearest: profile.nearestProperty(to: name))
        }
        guard let source = spec.source else { throw .propertyWriteOnly(name) }
        let payload: [UInt8]
        do throws(LRError) {
            payload = try unsafe await client.ask(LRCommand(rawValue: source.register))
        } catch { throw .module(error.asked) }
        guard let value = spec.value(in: payload) else { throw .missing(name) }
        return value
    }

    @discardableResult
    package func write(
        _ value: PropertyValue,
        to name: String
    ) async throws(PropertyWriteError) -> PropertyValue {
        throw .propertyNotWritable(name)
    }

    package func changes(
        before deadline: Moment
    ) async throws(PropertyReadError) -> [PropertyReading] {
        while true {
            let message: LRMessage?
            do throws(LRError) {
                message = try unsafe await client.notification(before: deadline)
            } catch { throw .module(error.asked) }
            guard let message else { return [] }
            let reported = profile.properties.filter {
                $0.source?.register == message.command.rawValue
            }
            let readings = reported.compactMap { spec in
                spec.value(in: message.payload).map { PropertyReading(spec.name, $0) }
            }
            if !readings.isEmpty { return readings }
        }
    }
}

extension LRError {
    /// The error of a request that changes nothing, and so leaves no doubt.
    var asked: ModuleError {
        switch self {
        case .radio(let error): .radio(error)
        case .unanswered(_, let error): error.asked
        case .request, .tooLong, .refused, .value, .weakKey, .noCredentials, .badValue,
            .unknownFeature:
            .exchange(ExchangeFault(.question, failureClass, .plain, description))
        }
    }
}
