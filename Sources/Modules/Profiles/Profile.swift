package import Domain
package import Radio
import SourceTree

/// One model of a family, as data: how to know it, how to speak with it, what it can do.
package struct Profile: Sendable, Hashable {
    /// Unique in its family; `generic` is what a vehicle without a profile has.
    package let name: String
    package let family: Family
    package let title: String
    /// What a module is called until its own name is read.
    package let unnamed: String
    /// Where its numbers are known from, for anyone who has to trust them.
    package let basis: String
    /// Nil for a family whose modules look for us.
    package let advertisement: AdvertisementForm?
    package let gatt: GATTForm
    package let authentication: AuthenticationForm
    /// Whether modules of this model want a bond, unless a vehicle's row says otherwise.
    package let pairing: PairingKind
    /// In the order of the file; a name may be there once for each variant.
    package let properties: [PropertySpec]
    package let features: [FeatureSpec]
    package let firmware: [FirmwareTarget]
    /// Where it says whether it sends data to the cloud; nil when it does not say.
    package let cloud: ByteField?
    package let times: ProfileTimes
    /// How long its modules may take for the answer to one request.
    package let answerLimit: Duration
    /// The file of the operator's that it was read from; nil for one that is built in.
    package internal(set) var source: String?

    package static let generic = "generic"

    /// The bond that is made where nobody can read a passkey.
    package var unattendedBond: BondPolicy {
        pairing == .justWorks ? BondPolicy(.justWorks) : .unbonded
    }

    package init(
        name: String,
        family: Family,
        title: String,
        basis: String,
        advertisement: AdvertisementForm?,
        gatt: GATTForm,
        authentication: AuthenticationForm,
        pairing: PairingKind = .none,
        properties: [PropertySpec],
        features: [FeatureSpec],
        firmware: [FirmwareTarget],
        cloud: ByteField? = nil,
        times: ProfileTimes = ProfileTimes(),
        unnamed: String = "module",
        answerLimit: Duration? = nil
    ) {
        self.answerLimit = answerLimit ?? ProfileShape.usualAnswerLimit
        self.name = name
        self.unnamed = unnamed
        self.family = family
        self.title = title
        self.basis = basis
        self.advertisement = advertisement
        self.gatt = gatt
        self.authentication = authentication
        self.pairing = pairing
        self.properties = properties
        self.features = features
        self.firmware = firmware
        self.cloud = cloud
        self.times = times
    }

    // MARK: Properties

    /// The property of this name for a module of this variant.
    ///
    /// One that is meant for the variant comes before one that is meant for all; one that is meant
    /// for another variant is not found.
    package func property(_ name: String, variant: String? = nil) -> PropertySpec? {
        let named = properties.filter { $0.name == name }
        return named.first { $0.variant != nil && $0.variant == variant }
            ?? named.first { $0.variant == nil }
    }

    /// What a module of this variant can do, in the order of the file.
    package func properties(variant: String?) -> [PropertySpec] {
        properties.filter { property($0.name, variant: variant) == $0 }
    }

    /// What a module of this variant gives by each register, sorted by name.
    package func registers(variant: String?) -> [UInt16: [PropertySpec]] {
        var registers: [UInt16: [PropertySpec]] = [:]
        for spec in properties(variant: variant).sorted(by: { $0.name < $1.name }) {
            guard case .record(let number)? = spec.source?.place else { continue }
            registers[number, default: []].append(spec)
        }
        return registers
    }

    /// Every name, each once, sorted.
    package var propertyNames: [String] { Set(properties.map(\.name)).sorted() }

    package func nearestProperty(to name: String) -> String? {
        Nearest.match(name, among: propertyNames)
    }

    /// All properties of this name, or the mistake of naming one that is not there.
    private func named(_ name: String) throws(PropertyMistake) -> [PropertySpec] {
        let named = properties.filter { $0.name == name }
        guard named.isEmpty else { return named }
        throw PropertyMistake(
            "the profile \(family.rawValue)/\(self.name) has no property \(quoted(name))",
            hint: properties.isEmpty
                ? "its modules have none" : Nearest.hint(name, among: propertyNames)
        )
    }

    /// Checks that a property can be read, for a `read` step.
    package func checkReadable(_ name: String) throws(PropertyMistake) {
        guard try named(name).contains(where: { $0.access.isReadable }) else {
            throw PropertyMistake(PropertyReadError.propertyWriteOnly(name))
        }
    }

    /// The value that a manifest's literal stands for, checked as a write of it would be.
    ///
    /// Where a name has several variants, it is right when it is right for one of them.
    package func value(
        of literal: String,
        for name: String
    ) throws(PropertyMistake) -> PropertyValue {
        var first: PropertyMistake?
        for spec in try named(name) {
            do throws(PropertyWriteError) {
                return try spec.value(of: literal)
            } catch { first = first ?? PropertyMistake(error) }
        }
        throw first ?? PropertyMistake(PropertyWriteError.propertyNotWritable(name))
    }

    /// The test that a manifest's condition makes, checked against what the property can be.
    package func test(
        _ name: String,
        _ comparison: Comparison,
        _ literal: String
    ) throws(PropertyMistake) -> PropertyTest {
        var first: PropertyMistake?
        for spec in try named(name) {
            do throws(PropertyMistake) {
                return try spec.test(comparison, literal)
            } catch { first = first ?? error }
        }
        throw first ?? PropertyMistake(PropertyReadError.propertyWriteOnly(name))
    }

    // MARK: Features

    package func feature(_ name: String) -> FeatureSpec? { features.first { $0.name == name } }
}
