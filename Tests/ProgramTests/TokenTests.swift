import Foundation
import Testing

/// `token show`, run as a shell would run it.
@Suite struct TokenTests {
    @Test func `a good token is explained`() throws {
        let program = try Program()
        try program.write("car.token", SampleTokens.good + "\n")
        let result = try program.run(["token", "show", "car.token"])
        #expect(result.status == 0)
        #expect(result.errors == "")
        #expect(
            result.output == """
                reservation R-553845661
                account     depot
                hardware id 553845661
                serial      G9-0001
                service     0574583b-0d8d-2962-4d79-0f43eeb96c98
                from        2020-01-01T00:00:00.000Z
                to          2100-01-01T00:00:00.000Z
                grace       15m
                key until   2100-01-01T00:15:00.000Z
                permits     lock unlock-driver unlock-all open-trunk close-trunk locate \
                ignition-inhibit ignition-enable check-in check-out secure-conditions-check
                good        it would be taken now

                """
        )
    }

    @Test func `a token that would be refused says all the reasons and ends with 78`() throws {
        let program = try Program()
        try program.write("car.token", SampleTokens.bad)
        let result = try program.run(["token", "show", "file:car.token"])
        #expect(result.status == 78)
        let refusals = result.output.split(separator: "\n").filter { $0.hasPrefix("REFUSED") }
        #expect(refusals.count == 2)
        #expect(refusals.first?.hasSuffix("its service is no UUID of 36 characters") == true)
        #expect(refusals.last?.contains("its reservation ended at 2020-09-13T12:41:40") == true)
    }

    @Test(arguments: ["good", "bad"])
    func `nothing of the key is shown, in any form`(name: String) throws {
        let program = try Program()
        let token = name == "good" ? SampleTokens.good : SampleTokens.bad
        try program.write("car.token", token)
        for flags in [[], ["--json"]] {
            let result = try program.run(["token", "show", "car.token"] + flags)
            let shown = result.output + result.errors
            // The token contains the key as base64 of PKCS#1, which has this beginning.
            #expect(!shown.contains("MII"))
            for start in stride(from: 0, to: token.count - 24, by: 24) {
                #expect(!shown.contains(token.dropFirst(start).prefix(24)))
            }
        }
    }

    @Test func `programs get one document`() throws {
        let program = try Program()
        try program.write("car.token", SampleTokens.bad)
        let result = try program.run(["token", "show", "--json", "car.token"])
        let document = try #require(
            try JSONSerialization.jsonObject(with: Data(result.output.utf8)) as? [String: Any]
        )
        #expect(document["good"] as? Bool == false)
        #expect((document["refused-because"] as? [String])?.count == 2)
        #expect((document["exit"] as? [String: Any])?["code"] as? Int == 78)
        #expect(document["hardware-id"] as? String == "553845661")
    }

    @Test func `what is no token is refused, and not shown`() throws {
        let program = try Program()
        try program.write("car.token", "SU5WQUxJRF9UT0tFTg==")
        let result = try program.run(["token", "show", "car.token"])
        #expect(result.status == 78)
        #expect(result.output == "")
        #expect(result.errors.contains("it is base64, but what it spells is no token"))
        #expect(!result.errors.contains("SU5W"))
    }

    @Test func `a token that others can read is refused`() throws {
        let program = try Program()
        try program.write("car.token", SampleTokens.good, mode: 0o644)
        let result = try program.run(["token", "show", "car.token"])
        #expect(result.status == 78)
        #expect(result.errors.contains("can be read by other users"))
    }

    @Test(arguments: ["gone.token", "file:gone.token", "env:NO_SUCH_TOKEN"])
    func `a token that is not there is missing input`(source: String) throws {
        let result = try Program().run(["token", "show", source])
        #expect(result.status == 66)
    }

    @Test(arguments: [["token"], ["token", "show"], ["token", "list"]])
    func `half a command is explained`(line: [String]) throws {
        let result = try Program().run(line)
        #expect(result.status == 64)
        #expect(result.errors.contains("hint: "))
    }
}
