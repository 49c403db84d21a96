import Base
import BlueZ
import Radio
import Testing

@Suite struct AgentMachineTests {
    private static let passkey = Passkey(7)

    private var byPasskey: Pairing { Self.passkey.map { .passkey($0) } ?? .none }

    @Test func `an agent is there and asked first before the first pairing begins`() {
        var agent = AgentMachine()
        #expect(agent.wants(1, .justWorks) == [.perform(.register(.none))])
        // Another program's agent may stay the default: bluetoothd asks our agent about our own
        // calls.
        #expect(agent.done(.register(.none), isRefused: false) == [.begin(1)])
        // The next pairing needs no further registration.
        #expect(agent.wants(2, .justWorks) == [])
        #expect(agent.ended(1) == [.begin(2)])
        #expect(agent.ended(2) == [])
    }

    @Test func `a passkey needs another agent than a bond that nobody confirms`() {
        var agent = AgentMachine()
        _ = agent.wants(1, .justWorks)
        _ = agent.done(.register(.none), isRefused: false)
        #expect(agent.wants(2, byPasskey) == [])
        #expect(agent.ended(1) == [.perform(.unregister)])
        #expect(agent.done(.unregister, isRefused: false) == [.perform(.register(.keyboard))])
        #expect(agent.done(.register(.keyboard), isRefused: false) == [.begin(2)])
    }

    @Test func `a wish that is given up is passed over, and a refused agent refuses all`() {
        var agent = AgentMachine()
        _ = agent.wants(1, .justWorks)
        #expect(agent.ended(1) == [])
        #expect(agent.done(.register(.none), isRefused: false) == [])
        agent.voided()
        #expect(agent.wants(2, .justWorks) == [.perform(.register(.none))])
        #expect(agent.wants(3, .justWorks) == [])
        #expect(agent.done(.register(.none), isRefused: true) == [.refuse(2), .refuse(3)])
    }

    @Test func `a service whose centrals may pair has an agent without any pairing of ours`() {
        var agent = AgentMachine()
        #expect(agent.serves(.justWorks) == [.perform(.register(.none))])
        #expect(agent.done(.register(.none), isRefused: false) == [.perform(.beDefault)])
        // If that is refused, our own pairings continue all the same.
        #expect(agent.wants(1, .justWorks) == [])
        #expect(agent.done(.beDefault, isRefused: true) == [.begin(1)])
    }

    @Test func `an agent is there for a link without a pairing, so that it can refuse one`() {
        var agent = AgentMachine()
        #expect(agent.connects() == [.perform(.register(.none))])
        #expect(agent.connects() == [])
        #expect(agent.done(.register(.none), isRefused: false) == [])
        // Whatever agent there is can refuse: none is exchanged for that.
        #expect(agent.wants(1, byPasskey) == [.perform(.unregister)])
        #expect(agent.done(.unregister, isRefused: false) == [.perform(.register(.keyboard))])
        #expect(agent.done(.register(.keyboard), isRefused: false) == [.begin(1)])
        #expect(agent.ended(1) == [])
        #expect(agent.connects() == [])
        agent.released()
        #expect(agent.connects() == [.perform(.register(.none))])
    }

    @Test func `an agent that is refused keeps no link waiting, and is tried at the next one`() {
        var agent = AgentMachine()
        _ = agent.connects()
        #expect(agent.done(.register(.none), isRefused: true) == [])
        #expect(agent.connects() == [.perform(.register(.none))])
        agent.voided()
        #expect(agent.connects() == [.perform(.register(.none))])
    }

    @Test func `every question but the one about a service is about a bond`() {
        typealias Question = AgentMachine.Question
        #expect(!Question.service.isAboutBond)
        for question: Question in [
            .authorization, .passkey, .confirmation, .pinCode, .showPasskey, .showPinCode,
        ] { #expect(question.isAboutBond) }
    }

    @Test func `only what a job allows is answered with yes`() {
        typealias Question = AgentMachine.Question
        let all: [Question] = [
            .authorization, .passkey, .confirmation, .service, .pinCode, .showPasskey, .showPinCode,
        ]
        func answers(_ policy: BondPolicy?) -> [AgentMachine.Answer] {
            all.map { AgentMachine.answer($0, about: policy) }
        }
        let none = [AgentMachine.Answer](repeating: .no, count: all.count)
        #expect(answers(nil) == none)
        #expect(answers(.unbonded) == none)
        #expect(answers(BondPolicy(.justWorks)) == [.yes, .no, .no, .yes, .no, .no, .no])
        let passkey = Self.passkey.map { AgentMachine.Answer.passkey($0) } ?? .no
        #expect(answers(BondPolicy(byPasskey)) == [.no, passkey, .no, .yes, .no, .no, .no])
    }

    @Test func `a service that wants a pairing gives nothing to a central without one`() throws {
        let (uuid, notify, write) = (
            try #require(GATTUUID("0001")), try #require(GATTUUID("0002")),
            try #require(GATTUUID("0003"))
        )
        for pairing in [Pairing.none, .justWorks, byPasskey] {
            let table = ServedTable(
                ServiceDescription(
                    uuid: uuid,
                    notify: notify,
                    write: write,
                    bond: BondPolicy(pairing)
                )
            )
            #expect(table.attributes.count == 2)
            #expect(table.attributes.values.allSatisfy { $0.pairing == pairing })
            #expect(table.attributes.values.count { $0.isWrittenBySocket } == 1)
        }
    }
}
