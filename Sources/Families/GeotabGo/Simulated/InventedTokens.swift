import Base
import Simulation

/// Tokens for vehicles that are made up for a rehearsal, signed with keys that no real device knows.
enum InventedTokens {
    private static let issuer: GOTokenIssuer? = {
        guard let tenant = Base64.bytes(tenantKey.utf8),
            let reservation = Base64.bytes(reservationKey.utf8)
        else { return nil }
        return GOTokenIssuer(tenant: tenant, reservation: reservation)
    }()

    /// The modulus by which made-up devices know the tenant.
    static let tenant = issuer?.modulus

    static func hardwareID(of module: InventedModule) -> UInt32 {
        module.hardwareID ?? module.chance.prefix(4).reduce(0) { $0 << 8 | UInt32($1) } | 1
    }

    /// A token with all permissions for the days around a rehearsal.
    static func token(for hardwareID: UInt32) -> String? {
        guard let issuer else { return nil }
        let year = Duration.seconds(366 * 86_400)
        let reservation = issuer.reservation(
            hardwareID: hardwareID,
            from: Simulation.firstEvening.advanced(by: .zero - year),
            until: Simulation.firstEvening.advanced(by: year)
        )
        return issuer.token(reservation)?.withBytes { String(decoding: $0, as: UTF8.self) }
    }

    private static let tenantKey = """
        MIIEpAIBAAKCAQEA06OwLL7u3C6ZZktJ5gglKChF+rE1DwOSYxC+Kj6UakkMnj6VQzM/mzcxCvYeYy/Byh8X1ho9\
        +uVssiT/8UHXTBYi2yt8aCe06R6XTrG0MbCB63UcSQ8wyeUJHTafyj+WZ8lJ8zGz5EBLmRgh6HoWfWwfzCVJDBq4\
        5QbdjE4bvyNPKDMzlv48GPL+a7u2XOHczW0BW5fCzYqVcDVaGgyDBVK1ibrAL7zKajIaW4sew2VEC+FevWVTZh/W\
        mK2C2uzWvkHMhw+jEUZqPyaKkRp3zqmH4a3YAKBbls9tUOaro9M1Zt0V1rCJU5Mty9ECr5RpzA/EHFWTdz2nxJV6\
        voQvJQIDAQABAoIBAAdo03O6COCRbms3hVlAktxzgA+zelPY53/H8oBwkOL2007u/DNAF9nEaDrs5vTIr+m9orbj\
        /of1DveXdj9a82w+Swtxv2rTbJuS/Qw90Vls4+MX/zIuuNrG4jd4R6oWk9N1CxLbfCrTIP0ZJTFtwT/Qpe8CM5y4\
        NXMp6NAyshWLLmLXlq0VVGd6qL1kn8kjsmGKF6JSpApYioK+cEGPqg/I8fux6EjqTn8MyLjcYIXSWqMDVSKi5P1W\
        aYHIU3hDznyGtUiMFJmtJfRIH7XkmvRpcQwG2PKXjTtQCzXK3bY//GfmQ+tLBfHwAfnmylBsTp2mv1Fk+M45mKRP\
        mR64D/kCgYEA8sfYs7gIcs5mOCu78c+8q2eSSRa/W0UcBmYEhwsVbGPgeRbhuPDdQGTJhINuGGcaGI5a2v3YB8VI\
        w0qE3cXsuMytzn88p74yalqbnDdsyPJlQmWHFgHR8raxeRncTpO+y8dVTJBpZkVvxn3a72WjOD5U4pNmwh3SlUsr\
        1BuD2sMCgYEA3ynCcN6vzMV1xAmY4567hie94JAQpY6deRPajZXOC+gYtJRVBrt47pvKjD0mqgeSv8fWSSm9+72E\
        9kY+RkCxtVMb7298OQojCpF5ND5FOs8uQ9VfZymR9NEMcMZEnFyg2RxRrkX5cUw0EynGfvu/EVnCD/VmYLl5xw+K\
        HtQPn/cCgYEAlFTHsJ4rA0HZsE4AKXCbvDmuZdtxFKl3wu0HrR53e17WYgU56g23kEVD3iOS23P6vLAVEKFxIOZH\
        W5Im9Xyc8heTxYt1mqMZGGO9mUc/vtJiTZvMWgTIqjs22V+Ue6nHM6fZFMtSqjqYXTS90/BMNevXXwtiCA3CgJaJ\
        87DP8ZMCgYEA3AimqPdISxTemt4Dm1rk9s+0jfg+EZ7ecYU71qJAOMktos8mTq8F++4r9b5NoxQ4g1OcWyMHKXGh\
        6dk0ibw7+9boElrQFsWB62eoI/TJ+cRRj5yQpnz8ZnDAXWmAONOz3J3pg3WHD0jdh4+HIalCqO7hQy7pNLFr+vO9\
        ccwRY90CgYA+SRnkzDP5BLKqQcdGS8dB0lCcRnwGdJP8uqZd/EYXvMZdtMb75irHh4j77e8KmlrtCNO9QtoTgQ8J\
        fRtkL1Uuqtl3VKg/+zlEfPG2KHvn0ypFZLKz44wmMxXNUGRH3Y+CRKLu01KO9Trc6CD0Gvd4kguyq7Mg20Ae201/\
        gTICPg==
        """

    private static let reservationKey = """
        MIIEowIBAAKCAQEAnagT7hfLBGODptR5APUqZF5QqSn3TuYSynTBRzNNPDseb+FITzpgpDxjXTALJlt4KyoDj0hF\
        uc6fLuI4WZh1F9hjZ6cNl9daoR3e6Bgf55U+rRy3Jmiy/bA9NuA9DDOxSXDEgmbrHtTWouZyuJt4NH/FI2+KUJ5Y\
        DEXuZjaK3qJ2Z91d2dFAJuQCpQFBwDkhTjHF6s7KqLMNGr/LX8O0Ijn9o4JdLCO3lTpE7wt8UQDuosCqOTf6VIWL\
        HDzeNmK/JP8pIfZuw9Mt+0332if52AtNuvTXoM64scLEqaf75cxnEWaQuXoRsPEkDbXTKzWkINCr4ghds2TEbXtx\
        zgYMwwIDAQABAoIBAAZmXxi+z1D7ff0OijL0J0DK/owMPHijDyEE1R7zNPyi8bz2ijbp8Cf6nS+YcBUIiLvhb4ko\
        R+kfboehGBe0mdxAvn6wro6UmwTU75cmxsGVGP9yBCu2lSPs1mKDfwO4/XnO7n5uRLeMFrWm+s7S3aUgvEhdK/vS\
        noRkOljcq42wcX/zkSIZPgwGC7HnyWzdkVGDZiIuu6JZFEf6RQixaj4IbD0YLGOhXIyYi4za0ZFDbHD/AO3fL1AV\
        9DXhaqniv2XZ8Ay4m5pTlFOZa9nC3fxgh/Y/KcHvt1KQgoBpmK7eY3ff0qq3g33m3FHDdYCgzlmRVlZairswouuE\
        hPou7CECgYEA17Nd+LW5B9I2cxouQX3S1svpTNgrNNKs6PidD/4UiZvJjmw8BXuxau1PzkkR4UHzYRe724p6zlmO\
        koZg9I/XlevWyiSvSqIogemAuClho0Mr/z+DNcdVi6dSReRjxCwcSDN2lI18GZA+N50J7UIn5ZkTDwsgkBK1KhQX\
        +AN6GnsCgYEAuxyM1t+86Bw99ynNGXJDXM2nxVL9F95E733/dFADLYDo2E2FZq5QpDnOCyAR2kCSX5VjO0uddQdG\
        drwJ+M5SiJVeJthq8c/Cvil/ZaTP6H6dEgQNv8QpawWbFBoNL7aLSpEaCqF8bcW2Shq0g3tdXSbj63d64uZz+Htk\
        HvaNCFkCgYEAqTif1ZoDkn45l22Hsnua6EbLPi0tIGDTpGY/GifURu0AYIrLP+X9l4ycGpM6wsTxwk9TYvYuSCr8\
        bjmcYOFkWcrPFIFZQC0dqGXfRRu57NKq9rIGJy++DjTzl7+JAYM1oPM26W5iWM/P7+N0wT0wfbDswdWR81Wp6Vwg\
        PcPEjHcCgYBDgT1emEGzC91fOnmAYLTk2l1Y12PwJISCUtbCw8shs4xN3UnvjZwSY7huUxedwgYM7fxq/BDGk+Vc\
        GOMQHH+yPxFEund63hXIPXh0100a9/L6+PNs5/x5XABi9DMlr5n5QPhANZqKj/YALjpJ5Uv9u3YnEWgITFQypXGt\
        qg2foQKBgEvKPWUx6jzRwTqEv75TXAX11IgJGNkUrZGx8x2cNu2TRR1kl5LANiEX8pSGsHbBK645ubbRVU01SdYv\
        2RpzFZLy4bpJFF9yKIp7wx8/ZBJAN9IxR682mbK7cCx8iLLwIpHJAaeUjuabslEgu4j7rdQ40/5phHWRiio/YNmK\
        JMAz
        """
}
