package import Base
package import Radio

/// An upload with what has arrived of the next message, and with what it wants to do now.
package struct SMPTalk: Sendable {
    package private(set) var upload: SMPUpload
    package private(set) var reassembly: SMPReassembly
    package private(set) var action: SMPUpload.Action

    /// Begins the upload; `reassembly` is that of the link.
    package init(_ upload: SMPUpload, _ reassembly: SMPReassembly, at now: Moment) {
        self.upload = upload
        self.reassembly = reassembly
        action = self.upload.begin(at: now)
    }

    /// Hears a piece of a message, and says all that can be said at once; returns whether the
    /// upload waits for more.
    package mutating func heard(
        _ piece: [UInt8],
        at now: Moment,
        _ say: (_ packet: [UInt8]) -> Bool
    ) -> Bool {
        guard let frame = reassembly.take(piece) else { return true }
        action = upload.received(frame, at: now)
        while case .send(let message) = action, say(message) { action = upload.sent(at: now) }
        return action == .wait
    }

    package mutating func heardNothing(at now: Moment) {
        guard action == .wait, let deadline = upload.deadline, deadline <= now else { return }
        reassembly.reset()
        action = upload.timeout(at: now)
    }

    package mutating func sent(at now: Moment) { action = upload.sent(at: now) }

    package mutating func pauseOver(at now: Moment) { action = upload.pauseOver(at: now) }

    /// Messages that are on their way stay so: the upload ends when they are answered.
    package mutating func stopRequested() {
        if case .ended(let ending) = upload.stopRequested() { action = .ended(ending) }
    }

    package mutating func linkFailed(_ failure: LinkFailure) { action = upload.linkFailed(failure) }

    package var progress: UploadProgress {
        UploadProgress(acknowledged: upload.acknowledged, resumedFrom: upload.resumedFrom)
    }
}
