import Base
import Families
import Simulation

/// Changes in the files and in the depot between two nights.
extension NightDepot {
    func change(_ wish: inout NightWish, _ edit: NightStory.Edit, _ air: Air) async {
        switch edit {
        case .newImages: wish.release += 1
        case .recall:
            wish.denied.insert(wish.release)
            wish.release += 1
        case .steps(let vehicle, let steps): wish.steps[vehicle] = steps
        case .remove(let vehicle):
            if wish.listed.count > 1 { wish.listed.removeAll { $0 == vehicle } }
        case .add(let vehicle):
            if !wish.listed.contains(vehicle) {
                wish.listed.append(vehicle)
                wish.listed.sort()
            }
        case .rename(let name): wish.name = name
        case .drives(let vehicle):
            wish.driving.insert(vehicle)
            await place([vehicle], wish, air)
        case .stands(let vehicle):
            wish.driving.remove(vehicle)
            await place([vehicle], wish, air)
        case .leaves(let vehicle):
            wish.away.insert(vehicle)
            await place([vehicle], wish, air)
        case .returns(let vehicle):
            wish.away.remove(vehicle)
            await place([vehicle], wish, air)
        case .called(let vehicle, _): wish.ids.call(vehicle)
        case .exchanged(let one, let other): wish.ids.exchange(one, other)
        case .refitted(let vehicle):
            wish.ids.refit(vehicle)
            await place([vehicle], wish, air)
        case .swapped(let one, let other, _):
            wish.ids.swap(one, other)
            await place([one, other], wish, air)
        // What it takes, a life has.
        case .enrol, .rehearse, .paste, .restore, .accept, .twin: break
        }
    }

    /// The modules move, and are heard, as the vehicles that they are in.
    private func place(_ vehicles: [Int], _ wish: NightWish, _ air: Air) async {
        for vehicle in vehicles {
            let label = Serial(serial(wish.ids.modules[vehicle]))?.text
            let speed: UInt16 = wish.driving.contains(vehicle) ? 120 : 0
            let signal: Int? = wish.away.contains(vehicle) ? nil : -60
            await air.arrange { world in
                for module in world.modules(ComoduleModule.self) where module.label == label {
                    (module.speedTenths, module.signal) = (speed, signal)
                }
            }
        }
    }

    /// Does what the reports ask for: a device that is in the middle of a recalled image cannot be told
    /// to drop it.
    func switchOffAndOn(_ vehicles: [Int], _ ids: NightNames, _ air: Air) async {
        let labels = Set(vehicles.map { serial(ids.modules[$0]) })
        await air.arrange { world in
            for device in world.modules(ESPModule.self) where labels.contains(device.label) {
                device.restart()
            }
        }
    }

    /// Waits until vehicles may be begun, so that the following night can do its work.
    func waitForWindow(_ clock: NightClock, _ time: VirtualTime) async {
        guard let window = story.policy.window else { return }
        let minute = clock.wallTime.milliseconds / 60_000
        let wait = window.minutes(untilOpeningAt: minute, for: kinds) + 1
        await time.sleep(for: .seconds(wait * 60), "the window of the cure")
    }

    /// Waits until an hour before the window opens, when a run would wait longer than that: the hours
    /// before show nothing new.
    func waitForHour(_ clock: NightClock, _ time: VirtualTime) async {
        guard let window = story.policy.window else { return }
        let minute = clock.wallTime.milliseconds / 60_000
        let since = window.minutes(sinceOpeningAt: minute, for: kinds)
        guard since >= window.minutes else { return }
        let wait = window.minutes(untilOpeningAt: minute, for: kinds) - 60
        guard wait > 0 else { return }
        await time.sleep(for: .seconds(wait * 60), "the hour before the window")
    }

    private var kinds: [NightStory.Kind] { story.vehicles.map(\.kind) }
}
