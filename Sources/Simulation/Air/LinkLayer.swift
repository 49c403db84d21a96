import Base

/// The physical layer, which sets the bit rate on the air.
package enum PHY: String, CaseIterable, Sendable {
    case oneMegabit = "1M"
    case twoMegabit = "2M"
}

/// The parameters that two link layers have agreed on: they decide how long a transfer takes.
package struct LinkParameters: Sendable, Equatable {
    /// 7.5 ms to 4 s, in steps of 1.25 ms.
    package var interval: Duration = .milliseconds(30)
    /// 23 to 517; three bytes of it are the write command's own.
    package var mtu = 247
    package var phy = PHY.twoMegabit
    /// Payload of a link-layer packet: 27 to 251.
    package var dataLength = 251
    /// The most packets the central sends in one connection event.
    package var packetsPerInterval = 6
    /// The share of packets that must be sent again.
    package var loss = 0.0
    /// How long a silence ends the link.
    package var supervisionTimeout: Duration = .seconds(4)

    package init() {}

    /// The time that a packet of `payload` bytes takes together with the other side's empty answer.
    ///
    /// Preamble, access address, header, payload and CRC, 150 us between the two directions
    /// (Core specification, volume 6, part B, 2.1 and 4.1.1).
    package func pairTime(payload: Int) -> Duration {
        .nanoseconds(pairNanoseconds(payload: payload))
    }

    private func pairNanoseconds(payload: Int) -> Int64 {
        let (preamble, nanosecondsPerByte) = phy == .oneMegabit ? (1, 8_000) : (2, 4_000)
        let overhead = preamble + 4 + 2 + 3
        return Int64((overhead + payload + overhead) * nanosecondsPerByte + 2 * 150_000)
    }

    /// The air time of an ATT packet, split into link-layer packets: L2CAP adds four bytes.
    package func airTime(attBytes: Int) -> Duration {
        .nanoseconds(airNanoseconds(attBytes: attBytes))
    }

    /// The same as a number: it is needed for every packet.
    func airNanoseconds(attBytes: Int) -> Int64 {
        let bytes = attBytes + 4
        let (full, rest) = bytes.quotientAndRemainder(dividingBy: dataLength)
        return pairNanoseconds(payload: dataLength) * Int64(full)
            + (rest > 0 ? pairNanoseconds(payload: rest) : 0)
    }

    /// Write commands of `payload` bytes that fit into one connection event, at least one.
    package func packetsPerEvent(payload: Int) -> Int {
        let time = airTime(attBytes: payload + 3)
        return max(1, min(packetsPerInterval, Int(interval.nanoseconds / time.nanoseconds)))
    }

    /// The most bytes per second that write commands of `payload` bytes carry on this link.
    package func ceiling(payload: Int) -> Double {
        let perEvent = Double(packetsPerEvent(payload: payload) * payload)
        return perEvent / (Double(interval.nanoseconds) / 1e9)
    }
}
