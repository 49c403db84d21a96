package import Base

/// One model of a family as data: how to recognise it, how to communicate with it, and what it can
/// do.
package struct Profile: Sendable, Hashable {
    /// Unique in its family; a vehicle without a profile has `generic`.
    package let name: String
    package let family: Family
    package let title: String
    /// The name to show until a module's own name is read.
    package let unnamed: String
    /// The source of its numbers, so that a reader can judge them.
    package let basis: String
    /// Nil for a family whose modules connect to us.
    package let advertisement: AdvertisementForm?
    package let gatt: GATTForm
    package let authentication: AuthenticationForm
    /// What opens a module whose own secret is not given; nil where each needs its own.
    package var defaultKey: SecretReference?
    /// Whether modules of this model need a bond, unless a vehicle's row states otherwise.
    package let pairing: PairingKind
    /// In the order of the file; a name may occur once for each variant.
    package let properties: [PropertySpec]
    package let features: [FeatureSpec]
    package let firmware: [FirmwareTarget]
    /// Where the module reports whether it sends data to the cloud; nil when it does not report
    /// this.
    package let cloud: ByteField?
    package let times: ProfileTimes
    /// The time limit for the answer to one request.
    package let answerLimit: Duration
    /// How many wrong answers its modules may be given.
    package var wrongAnswers: WrongAnswers
    /// Whether its modules take an image that is earlier than theirs.
    package var takesDowngrade = true
    /// With what a command to its modules succeeds.
    package var success = CommandSuccess.result
    /// The operator's file that it was read from; nil for a built-in profile.
    package internal(set) var source: String?

    package static let generic = "generic"

    /// The bond to make when no person is there to read a passkey.
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
        answerLimit: Duration? = nil,
        wrongAnswers: WrongAnswers = .none
    ) {
        self.wrongAnswers = wrongAnswers
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
    /// A property for this variant takes precedence over one for all variants; one for another
    /// variant is not found.
    package func property(_ name: String, variant: String? = nil) -> PropertySpec? {
        let named = properties.filter { $0.name == name }
        return named.first { $0.variant != nil && $0.variant == variant }
            ?? named.first { $0.variant == nil }
    }

    /// The properties of a module of this variant, in the order of the file.
    package func properties(variant: String?) -> [PropertySpec] {
        properties.filter { property($0.name, variant: variant) == $0 }
    }

    /// The properties that a module of this variant has in each register, sorted by name.
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

    /// All properties of this name; throws a mistake with a hint when there are none.
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

    /// The value that a manifest's literal represents, checked like a write of it.
    ///
    /// Where a name has several variants, the literal must be valid for one of them.
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

    /// The test that a manifest's condition makes, checked against the values that the property can
    /// have.
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
