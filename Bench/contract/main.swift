// Checks the contract of every radio with the radio over a real BlueZ: hci0 is ours, the contract's
// peer is played on hci1 and its central on hci2. scripts/e2e-bluez runs this in its machine.
//
// With `transcript` it plays a script of calls instead, and prints their transcript; with `served`
// it plays the script to the world that FakeBlueZ serves, on any machine.

import Base
import BlueZ
import Glibc
import Lab
import Radio
import RadioContract
import Simulation

let word = CommandLine.arguments.dropFirst().first
if word == "served" {
    try await TranscriptOfHost.served()
    exit(0)
}

let clock = RealTime(loop: try EventLoop.start(name: "clock"))
let address = BusAddress.system { name in getenv(name).map { String(cString: $0) } }
let air = Monitor<Air?>(nil)
let visitors = try BlueZ(address)
let rehearsal = Rehearsal(
    .empty("contract"),
    on: ["hci1", "hci2"],
    by: visitors,
    clock: clock,
    socket: (ContractVisitor.service.notify, ContractVisitor.service.write),
    populate: { made in
        await made.arrange { world in
            world.add(ContractPeer(world: world))
            world.add(ContractVisitor())
        }
        air.change { $0 = made }
    },
    note: { note in if word == nil { say("  \(note)") } }
)
let player = Player(executor: try ThreadExecutor.start(name: "simulation"))
async let played = player.play(rehearsal)
let world = air.wait { $0 }
if word == "transcript" {
    try await TranscriptOfHost.real(address, world)
    exit(0)
}

var held = 0
var broken = 0
var left = 0
for (number, clause) in RadioContract.clauses.enumerated() {
    if let reason = RealBench.reasons[clause.description] {
        left += 1
        say("not applicable: \(clause): \(reason)")
        continue
    }
    var problems: [String] = []
    // A real link may fail, and bluetoothd may die: there is a second attempt, which is reported.
    while problems.count < 2 {
        // Each clause begins with a radio that knows no devices.
        let host = try BlueZ(address)
        let bench = RealBench(host: host, time: clock, air: world)
        await bench.settle()
        let problem = await bench.problem(with: clause)
        await host.close()
        guard let problem else { break }
        problems.append(problem)
    }
    if problems.count < 2 {
        held += 1
        let first = problems.first.map { ", at the second try, after: \($0)" } ?? ""
        say("held: \(number + 1) \(clause)\(first)")
    } else {
        broken += 1
        say("broken: \(number + 1) \(clause): \(problems.joined(separator: "; then: "))")
    }
}
say("\(held) held, \(broken) broken, \(left) not applicable")
exit(broken == 0 ? 0 : 1)
