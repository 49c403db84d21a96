import Base
import Families
import Radio
import Rollout
import Simulation
import Store
import Testing

/// A central without any key in the place of a GO device, judged by what it has collected.
@Suite struct ImpostorTests {
    private static let trunk = CarShareCommands(.openTrunk)

    @Test(arguments: GOPlan.Impostor.allCases.filter { $0 != .success })
    func `an impostor gets one signed command, whatever it answers, and the vehicle is in doubt`(
        answer: GOPlan.Impostor
    ) throws {
        let yard = CommandYard(seed: 1, count: 1, impostor: answer)
        let nights = try yard.nights([.command(Self.trunk)], times: 2)
        #expect(nights.map(\.collected) == [[1], [1]])
        #expect(nights.map(\.counts) == [[.inDoubt: 1], [.inDoubt: 1]])
        #expect(nights[1].executed == [[]])
        #expect(nights[1].intents.map { $0.settlement?.outcome } == ["in-doubt"])
        let message = try #require(nights[0].records.first?.end?.message)
        #expect(message.contains("it may have been carried out"), "\(message)")
    }

    /// A command that locks may be repeated: whoever passes it on to the vehicle does no harm.
    @Test func `a command that locks is sent again after an impostor's refusal`() throws {
        let yard = CommandYard(seed: 1, count: 1, impostor: .busy)
        let night = try yard.nights([.command(CarShareCommands(.lock))])[0]
        #expect(night.collected[0] > 1)
        #expect(night.counts[.inDoubt] == nil)
    }

    @Test(arguments: GOPlan.Impostor.allCases)
    func `where the row names a passkey an impostor gets nothing, and the vehicle its command`(
        answer: GOPlan.Impostor
    ) throws {
        let yard = CommandYard(seed: 1, count: 1, impostor: answer, isBonded: true)
        let night = try yard.nights([.command(Self.trunk)])[0]
        #expect(night.collected == [0])
        #expect(night.executed == [[Self.trunk]])
        #expect(night.counts == [.succeeded: 1])
    }

    /// The limit of the protocol: whoever passes everything on in time looks like the vehicle.
    @Test func `one who passes the command on at once cannot be told from the vehicle`() throws {
        let yard = CommandYard(seed: 1, count: 1, impostor: .success)
        let night = try yard.nights([.command(Self.trunk)])[0]
        #expect(night.collected == [1])
        #expect(night.counts == [.succeeded: 1])
    }

    @Test func `what a vehicle without a bond says it did not do is in doubt`() throws {
        for fault in [.nack(7), .rejects(in: .command), .failsSilently] as [GOPlan.Fault.Kind] {
            var bench = try CarShareBench(faults: [fault])
            bench.bond = .unbonded
            let (outcomes, _) = try bench.send(Self.trunk)
            let error = try #require(outcomes.first?.error)
            #expect(error.fate == .inDoubt)
            #expect(error.description.contains("without a bond by passkey that proves nothing"))
        }
    }

    @Test func `a vehicle that does not say which one it is carries its command out`() throws {
        let token = try CarShareBench.token { $0.serial = "G9-0001" }
        let bench = try CarShareBench(token: token) { $0.faults = [.init(.noVehicleData)] }
        let (outcomes, seen) = try bench.send(Self.trunk)
        #expect(outcomes.allSucceeded && seen.executed == [Self.trunk])
        #expect(bench.notes.all == [.unidentified])
    }
}
