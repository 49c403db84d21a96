import Base
import Radio

/// Links of this program that an earlier run left: they are recognised by their addresses, and
/// ended before any search.
///
/// A module that is still connected does not advertise, and BlueZ shows it under another name
/// meanwhile.
extension BlueZ {
    /// Whether a link of this process belongs to the device.
    func isOurs(_ path: ObjectPath) -> Bool { links.values.contains { $0.isAbout(path) } }

    /// Whether an earlier run connected to the device, or tried to, and no program uses it now.
    private func isLeftBehind(_ device: DeviceRecord) -> Bool {
        settings.memory.links().contains(device.address) && !isOurs(device.path)
            && !mirror.isInUse(device.path)
    }

    /// Ends the links that were left at these adapters, before others are told that the modules are free.
    ///
    /// What does not end now ends before the first search.
    package func endLeftLinks(on words: [String]) async {
        for word in words {
            do throws(RadioError) {
                try await attach()
                try await sweep(lane(word), try await adapter(word))
            } catch { continue }
        }
    }

    /// Ends the links that were left at an adapter, once.
    func sweep(_ lane: AdapterLane, _ adapter: AdapterRecord) async throws(RadioError) {
        guard lane.swept != generation else { return }
        let before = generation
        let left = mirror.devices.values.filter { $0.adapter == adapter.path && isLeftBehind($0) }
            .sorted { $0.path < $1.path }
        for device in left { end(device, on: lane.word) }
        if !left.isEmpty { try await hearAll() }
        do throws(RadioError) {
            try await condition(within: .seconds(6)) {
                let isGone =
                    before != self.generation
                    || left.allSatisfy { self.mirror.devices[$0.path]?.isConnected != true }
                return isGone ? .success(()) : nil
            }
        } catch .timedOut {
            // A link that does not end is found again when its module is searched for.
        }
        guard before == generation else { throw .serviceUnavailable }
        lane.swept = before
        // Addresses that are no longer connected need not be remembered.
        let connected = Set(mirror.devices.values.filter(\.isConnected).map(\.address))
        let ours = Set(links.values.map(\.machine.address))
        for address in settings.memory.links().subtracting(connected).subtracting(ours).sorted() {
            settings.memory.remove(address)
        }
    }

    /// Ends a connection that appears late, because a run was killed while making it.
    func endIfLeftBehind(_ path: ObjectPath) {
        guard let device = mirror.devices[path], device.isConnected, isLeftBehind(device),
            let record = device.adapter.flatMap({ mirror.adapters[$0] }),
            let lane = lanes.values.first(where: {
                $0.swept == generation && record.isCalled($0.word)
            })
        else { return }
        end(device, on: lane.word)
    }

    /// Starts the call that disconnects a device, which also cancels a connection attempt.
    private func end(_ device: DeviceRecord, on word: String) {
        if device.isConnected {
            settings.note(.leftBehind(adapter: word, address: device.address))
        }
        startCall(Self.disconnectCall(device.path))
    }

    static func disconnectCall(_ path: ObjectPath) -> MethodCall {
        MethodCall(
            "Disconnect",
            of: BlueZName.device,
            at: path,
            on: BlueZName.service,
            patience: .seconds(10)
        )
    }
}
