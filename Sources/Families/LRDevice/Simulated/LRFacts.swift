import Domain
import Wire

/// The facts about a simulated lock that outlive our process.
struct LRFacts: Equatable {
    private var name: [UInt8]
    private var key: [UInt8]?
    private var password: [UInt8]?
    private var state: LRLockState
    private var autoLock: UInt8?
    let user: [UInt8]
    let faultsLeft: [Int]
    /// A digest of the lock's initial state in the plan.
    private let baseline: UInt32

    init(_ plan: LRDevicePlan, user: [UInt8], left: [Int], _ baseline: UInt32) {
        name = Array(plan.name.utf8)
        (key, password) = (plan.key, plan.password)
        (state, autoLock) = (plan.state, plan.autoLock)
        (self.user, faultsLeft) = (user, left)
        self.baseline = baseline
    }

    /// The saved facts; the initial ones when nothing was saved or the plan's initial state has
    /// changed.
    init(plan: LRDevicePlan, saved: [UInt8]?) {
        let baseline = Self.baseline(of: plan)
        guard let facts = saved.flatMap({ Self($0) }), facts.baseline == baseline,
            facts.faultsLeft.count == plan.faults.count
        else {
            self.init(plan, user: [], left: plan.faults.map(\.times), baseline)
            return
        }
        self = facts
    }

    static func baseline(of plan: LRDevicePlan) -> UInt32 {
        let words = [
            "lock", plan.serial.text, plan.name, Hex.text(plan.key ?? []),
            Hex.text(plan.password ?? []), String(plan.state.rawValue), "\(plan.autoLock ?? 0)",
        ]
        return CRC32.of(Array(words.joined(separator: " ").utf8))
    }

    /// The plan with the changes that were made to the lock since.
    func plan(_ plan: LRDevicePlan) -> LRDevicePlan {
        var plan = plan
        plan.name = String(decoding: name, as: UTF8.self)
        (plan.key, plan.password) = (key, password)
        (plan.state, plan.autoLock) = (state, autoLock)
        return plan
    }
}

// MARK: In the depot's memory

extension LRFacts {
    var bytes: [UInt8] {
        let fields = [name, key, password, user, autoLock.map { [$0] }]
        return baseline.littleBytes + [state.rawValue] + fields.flatMap(Self.field)
            + [UInt8(clamping: faultsLeft.count)] + faultsLeft.map { UInt8(clamping: $0) }
    }

    private static func field(_ bytes: [UInt8]?) -> [UInt8] {
        guard let bytes else { return [0] }
        return [1] + UInt16(clamping: bytes.count).littleBytes + bytes
    }

    /// Nil when the bytes have another layout.
    private init?(_ bytes: [UInt8]) {
        var reader = ByteReader(bytes)
        do throws(OutOfBytes) {
            baseline = try reader.little()
            state = LRLockState(reported: try reader.byte())
            name = try Self.field(&reader) ?? []
            key = try Self.field(&reader)
            password = try Self.field(&reader)
            user = try Self.field(&reader) ?? []
            autoLock = try Self.field(&reader)?.first
            faultsLeft = try reader.bytes(Int(try reader.byte())).map(Int.init)
        } catch { return nil }
        guard reader.isAtEnd else { return nil }
    }

    private static func field(_ reader: inout ByteReader) throws(OutOfBytes) -> [UInt8]? {
        guard try reader.byte() == 1 else { return nil }
        return try reader.bytes(Int(try reader.little(UInt16.self)))
    }
}
