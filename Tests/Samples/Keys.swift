import Base
import Simulation

/// Keys made for these tests; they are used for nothing else.
package enum Keys {
    /// The key of the tenant whose tokens the vehicles accept.
    package static let tenant = key(
        """
        MIIEowIBAAKCAQEA6UI+0iCNsW3hWhlIdk48mU2I9ghH70FwCC3AM3+L1BRr4HuE3T1Ofo3DrKQOg4lCD0Z4XySt
        IlGYqdkT6p3pp0yau+45rlIl+RWxvEGl4vjGSInpX2pHLc+EAYKYG9nmPKs9ePTb8E0x5lw28Oxm60doCyjwFom4
        VcORSjBaIOvhLg6S8WRbThD1E+z5QtjTVxH6DazGUExKkUgWegb5snA1jU014ygelGSvXDzU2JBAYQhlQ8kYQYb2
        Ec9auZoU4jyLkjcPGlWa9dy+LjPVq+BmWlg+2ch2qcDYSNcIUJ3CTA8FEu2ydanRidYvl7bT/fmdDeqm5VNXkFzg
        0i3bNQIDAQABAoIBAALngEC9hwYeiB/HEM/oSXjfLkVh9QNVnT980lfRzrvlRTKWVyEqEkAhI76SjFu26cum5PjK
        TB2RRoVW3pidPruGiKauYKl6/F4Nlxjw+E/LKSzeCrnVaO15F/us1JgELomy2CEZa2Oikmx72XNGfkGPsgvxhovB
        SzpGJRj3YSfnweAGKTD1E72g75swcrVvz08PbC/7stjX/v59ipt36zUmO0zfHbpLxcVlGo1S3zeKO/jVf2NaHYl2
        HTkWB2SpC4r4LOufNJYi4aJtmuYR2f13WBoaL1aq2uwv90ier+AoGQNdDhqCY1S1ffOIbWWujeZ5zLmaV8qt0eEw
        CUVnzkECgYEA98/G1nPM2cWRVKHxmzsQUX2OSMLzvQmez0ZhTW9DMDcNueKVYnjgqProXPH/Cbh3Un4V/JeyfCi4
        qsDkM8EB9sJhtgCCiUOTmaaqagejk698mOo13b0eBIvoP/QWTZpkdCoT/cXGtV28r/hdzsJ1UV1AUN0/8aw0DiHm
        9pUL5tcCgYEA8Pdd8Xkdj74/PUTJ1Kee3I6eSBEIdkhLpm8gKpuKehaKf7aCTfPZAchFH3UWuMzRjY0nC4r9O5or
        kddtgv1577BBxVGqaxCmeB09NOFO++zplcTAC4LhKaH1n607jeXrImFU69SHCe0AX/3mhJBAYu6fMgZK5df9Oq8d
        TOx7KNMCgYB8IIQtiSWT82U/ajq2EZiz6NsrURN7neUBV/SHL/MMpJbohDllcLy/h6Z6X/Dqso56MJPcyTNrA460
        YRgtYEEWk/kTjB/Wl5XIQfZcU+U4pY8YnUBMCF2P03CLED1Xs70bfrQyyi0lTYWk8xgx56+SCM6dcqWD7UjJx2uE
        GdYzUwKBgQDFqiVl7/RP9b/qgoMN7nJieptcgpxuat+jp4S7btwpSlRSb2R0jZN14tLQ+zuoXFuJwkBFN76DJfSX
        riAnU8ay1+Mb+eHR8dacsV+EAU7JWY5DTSI8TyBlBnZ2haRUwkYf7be7vJsJiWDFXYG7PJmUjioI3yCRapxPh1aB
        w3tEAQKBgFMInqCdKMKDIF7qUjyCwEKVX/Ah3dAXC/Oz8iquJWMbkBy3xMh8cfmi/CuKlBBqjOjqNvwo/AVucC/G
        rEWGZl5zPyu3YNssOvdLoE8acR8gmDWBhQpkE+V68TU9hwu/q8SP4vP1Pmu+TzG7AOTDsdhU2x+py4lm92vC0L5J
        aA9g
        """
    )

    /// The key of a second tenant.
    package static let otherTenant = key(
        """
        MIIEpAIBAAKCAQEAs4xqm8rbJkzcWXzIRjrso1Qkkbcjm8pyzgUCYi39gGHjVZO2nFxmxG6ow8dy7x4A4PMWfctq
        ws34t6uGor36UlxyIm3+NvfgURxWoTbU0+QwyCwwXQjJR0h2T70MkgIbGh14qjv2ug+0i4HFtp3HMn0yD2Z80DJD
        ZDT1et7mrIlE14HPaskSIXMCXOsnzI/HUihBsU/Gasm6INtOQwxUL0aXixdyT4rDS07uavNeXnFLh912PilbrpRk
        6AgXmAo6XWNO9anHbhZlsAqeWzIZRieFkpUYNs+nWjbxcD33s3/3nqaSFWI0Wg+FTnAkpZs0fNQrUfEUKllvFWCK
        wTqtpQIDAQABAoIBABx9WGE2FAYExiYQ7bpvGSNlc5QHikfrHMJh+xnXEFVxst/eW2h+JPRgVrkSCcO1cBBBojz9
        rQgSJLgIKInkOTceYiHicCcKt/ZG19wm1ih1GeR5Voc8oKuF7PgEGF2GpgRDzuS8NQ8a9Nv6EIREjtoNEYduDLoA
        b78TxCvl+JZBwRcEPcFVUQZQdK+oXW96g1DO57/60Fp5dccuY9ywQle/dwGOdbSjb2zQIUP2VIgm6df1s536m9mT
        7WmCQXi0a2DxK8q6zspHdKl+pfhfRqxwEwlXcOF5U6lprVtRB+vZW0fwgU81MH07ISUBZmbN/tP67vX2aygRgMWx
        qN8Lt2ECgYEA9ZTM5Yb6jSbSRElGzBUUW1fOulu2JUF0h/wtO7b2pKNk5g8ZPjP7qVIIu+na4+hhhTGBw0dN0jS4
        AWdu1acUHXRlltrZSiW65NINkrXogXdy1cF0YhxcP5qiTNUHX+Rgx4WywQnKRw13/rPqyIcvR4/gKzm9/kRezZWB
        VbabADkCgYEAuypzNueYmQbmfAyTUgu5r2XmNJKD4kSwDcRfBha0TBDfFwHm7u3qCbH9/dHs93VP53OKmzdNIKYn
        WZhjONu4DK2Ze3L0sHX309rUai1kmPi1u9Hz+bStCDaZYBIVNJo8bjmzBDuPqbBBAoBdDPFvZ9e2wLsilrYIMvxN
        01D3gM0CgYEAgo6F02xL3SiLVkRCgBKgzOLEg2xoTCwdIIIfJgTh4KsA5BGY0Onf26dB/2yWst0Co0Wrf75zj9H5
        FL4BPVJirjoIHAfixrmCP02wa5OLtPBku2DqV5JONH4n1ILYNdF65fedDWUABYASj/TkV5EOwJOrkC9VY0zDvbXC
        mWfHxXkCgYAPhNOMx+M1PQc7XeeRM/uveWl/Dm71AfD/Ezs1zAgjDnsQ801snjl7mFCRDSjy071OWZwyhoFUpbI5
        kZMYkc9O7c3+GGgFgaKM5GYcb6sZq/WVnzD1kW+PcMeC2bz8YZWFJi+buDyPO1gIlxAgFJzCJXa3wEx75pgDcjwZ
        u2rqOQKBgQDJrZcWmx87HO9Bba/3Yf8CLTMk74Ql3k4NdMTLZtci3a4AXBfz95p2ULni8S340jv00JgO3vHf4Ppu
        Vud9UYlKZNCZlsPxekMpAdrL/v4vc59AOY3QTs7A6OqV537+r33zH8RpQuh8JM0ZsktcGVKhTVLPA5c8bkUW0LcM
        /b/XzQ==
        """
    )

    /// The key of the person with the token.
    package static let reservation = key(
        """
        MIIEpAIBAAKCAQEA2hRvW1Qgv6UIOokmmC4fPmbKzqzYq4d4fXMU5KxHv+NZM4483x8KkdALF5Hg/OrNW1Fakxf4
        n7RNsU4CFameXEkeFGBYytMqrWaEb8ZemSr/bOfnaXuadug9QlJF3Y4ch3KbSZDR6rns7b4wLmS9w652rq7LBFVI
        dn83k+bUKwZF4Jff805wb0BBeQ+aif7NQrySg6I3dIQiJ6pPAp1NyV3cBvabPWhj2+mLPeJDW810i3/BWkvIB6jq
        eGxJnA61o9wbYnNMpyt5vHbcv/w8x3cy2fW1ouAdvSxg5dktXcBW1Ywv7hyu6xj+H9LLDqN7aEf11WPqNrR+uB2G
        dHe7HQIDAQABAoIBABHJn+mZm5A2JE0t+aVpAahj1v/zjjqzcor884PRX4rRvulbHTDvxbtt9jGmduz6M+TSZmpg
        Bqn0GXAwVjAxJRcO6bKsxyFIBw+csImzauzgWnQmGDR83fT77V82+bbgDAiqOutNsimMn7wmiqSGGApZdRm7bRi9
        4gq0RrK8Hasikb/0Uykf0wh63WvtxHTLu+9fZnJ2luQfc5/XVxCQqCeOXFKwndaYK/Z+UaW29pEL8Oqre8hZw6vW
        jPyIj6IwBil5BusU7VLzhxkaTe3LOAQug1keEQm0dNSXcExl7MeTEUrdIII2Qk6ks5uu8Xq/xx853KkMVyItXwuX
        3OHNDfECgYEA+UDOdQwpg9iVH2H1YXAMNK8QnopV0kmnDmyq2QrTdQf5DOGzfWcUwIgAlfeONkJg36JQ3f4rOnID
        CJ3hknGc9rQPYC1fXzuerqD03xRpqjz47O+Kcr5XHQyr+2ONbD4m6+AWVPwQnQyi/92jLNpPoc+MEEnIOn4PtLk/
        7zqURjUCgYEA3/udHPaQ1qPX5EwPgEOUXCIz0+TAZMANAP28QCrOMbnsDvUihopMtw0Ep/o5gZfU13MjIhrNS0A/
        hi/PHpLvM+8YpLGHhCl95aH3OdcZIW2El9/c+G780ySfrKiS6VoIh907RFxaDxiTbxg7MyKq36eUtBo6DWsuIQno
        p5jPnkkCgYEA8NUwZyHwPweW1rLU4GfeM01v9m/diolF1AclcP8n3+1rM4ok3qcqAvml70E59K1gYtS35DdA14Dv
        83RxTwldy3WhYaGVhDPcGAlHcQCNNEMjlfPBxyqoi1YCGq1PKWZIPyLPESBYgRaDrEwf7SenR8Z9JAPWZsYFMO7J
        msH0IH0CgYEAmdUC9Eh386L1/QssPkir1Zd8BxT9+nRYugyKxXtgwJBUC3XbL5I+3B3py8C0zEfOW+btA1hrFTrc
        Jjohw3rhJMcbIsn3LBMfL57M4IHV9bp1LaYH6uy3YgCuVfQ1amV2pHGSagIPrHyRjeSTjCxMNW2wWP4GTv8E4JYg
        nzL5rVkCgYA693G6ZQpGNu/SvtHe7fZmjTqHBeLS594zjrJg9QpEGys3G9vzbA5zDECtYrfyd7mcvrFvp3YjiySI
        zrD9wVhOkesfRqkxBrN6lW1wqPScPfRtB+6NaPs5qw+s/bnTjLB8sRIYjv6HNwu81sRVwy4GMB8xPdLvaS24tA1M
        jhviCg==
        """
    )

    /// The key of another person.
    package static let other = key(
        """
        MIIEpAIBAAKCAQEAr3bzZFOEGarYLOgw24p/CPL9jHmuUwSZAEllcy3PHlvRFigsoHl/eAY00q4JlkcoVmQs+YDB
        iG2hoxJcN3jeEbnqlozfffSQczvaDCDn9QtFHX8xZN+Z07ruL0NAIq99JKQOnAFilDYIuJDdq0wpXWdZSCs6b3Zf
        0WeIcVQDF5i8EVcfK11QqW727b6Q7H+o2elTSIHO1gRZvosT0O1s0SWFBkz0TBgQujBhdLzVx+FsBAwoLGg3mdp6
        6lr9pwS5mzE9+GIQGj580iPxAyJ6a0lY0ifUsD4HFZc/CekHH/ga9B60BPZbp09rYwBnnM3nkvpv8grN+LAjuUC5
        56ip3QIDAQABAoIBAEE8anWMj3qziDf6A+A798st/JKz0tpOxUvT/gH6sBzLaktgmGb5hSjstcr2pd3XiunDyOzi
        sBG3IPduJhcBux7ADrX2nklIGkSdpg4IVfVHQWUcGxM0Bw8vWsr7p+a9dDuhO0VJRotwI4Hral77rA1sFUe9urYi
        PrGuWo43/AZTRZDy9yzXxVZKcEJ7JVI95S7Tcml8Q4+T1zTynQ3aR5JvyR3uIcuOSaot5Xv8sRi/xnHOzsdjig5f
        y5WvQnp4OxeW/HZDRt9dkanftx5KVx61PjBlvVqdfGpVGX2MzdGnCHAVYDLvBzMXq8sJ0C7Qfqj38evtIEf7LIoY
        6GbkpwkCgYEA9e2qd+T6o3pm8kTAlW6XoaRXNqXO6engCEOC3yrpNaHHjIejxBy3potLR3Fb21d6HioVAR8HoHpy
        PpX682MdARvUYYQEaiOuQ8mj2cUERjZaPMC+Ouv473ZNrooLWrcRAZmGzvs6LYfNO06QAv+L8XBK/IiYBH214WYS
        /wfY4zcCgYEAtqaJf1+cq5Co2FWTw6rBj0KXlU2BZdvyfQ2T65pRvPdwASJRMGtjeEcl/jGAEOL/p/AkUveVZstA
        ivG7VuGOsZYOSx3GQnB5umpXxxQTrsOQ0L2XxMFcfWO4jm7yi8A+jcDoM/WMwK/LfhJ9LVKiP39DA9W3fzrvnv/Y
        6q5AjYsCgYAuCiFIssBNTIPrRP28u+h9JVQCcgYLenIreeANQW5JUREXeOkqtKmY7yjXphwpMvY0oXIvNIzr+SBc
        IR3K5LowU/JtkxZ0fFuKazxWb3C+aDx6dSbnxvdidQZT75nykKUJZKF9LEEW9v5v5ORG+2pKd9hB8Jxs8s/S85YI
        0oJC/wKBgQCrUN0aqXVrvk2ATBRCrMDMPGutUHsULQ7umHOrwpz0HynhBm0cez1bLXDHUWqLbD7bJ/UKFMr/FZk+
        Oam7veh3TQWvEwhIfPLQFLqsMXqcqzYDdDEMDUlRGt2aSxoYVoLVtqCVS7VvbfPyFilu/1jLMfSLfkOUhJUIj3TH
        +hT2LQKBgQDuRjp8CVQYvaad4s9IxCyMnjQ+cHkMSPjRjfuB18glWnGgbXjsUOtm69dX8KAUlZF+CTdgNVBI44vV
        6+hPgBvyIPt8FF0W/R7b6Wwy1x+YmiwfT/vPwaUCGG8Z+iGCVKNMA6CCcBbxnlcy9LUP3tN5lJxEDsegLLnYrTTz
        9ofyeg==
        """
    )

    /// A key of 1,024 bits, which is too short.
    package static let small = key(
        """
        MIICXAIBAAKBgQDkNIpBS7XSOz09JUh++Z665fFLLnBrk/ixytGKucAY2jjiAdnhoAGd5l47TfZChLxndjeD4/+J
        UPfo8G/7G8j/7+khI1Q8hH3EE+l8CcPPWxJ1u9wy7GjfDGQitmEC2lVW8qvMvSX3xgQjCqi/z3eqJ3SVtgpUzj6v
        Y0UNjPOwMQIDAQABAoGAPv2ptABb/d3QN5KVAkeQ4vIZurDk4y0DFsBvOqWvOqzxyqDMLZVnHNi75g7NDOtqvfxJ
        sqQ6owKwi6HipyOyRT3JgMmr22J1SY32Dzx5Jr+ssX4oNzFUalAk3rLIBQveM7SjiK0Vdc2fp2kD5jJ82Tg29UTs
        gkjg7W5JFGrZUWECQQD5aPnLXGeEZui/kVrjxZZtQyYrqydyp19QLqsQuGQ0Z175gBKrJ6Zx7swoO3x1/FiEoBc0
        w5NKR/aBIiRZRjtdAkEA6jwiNETbj+pOyapVIiNsZnkcol2+jf98yKU5RbrZaBkqOjjBgVXRWwZ3OaqM0YcnViBo
        8JhOz/fg1HV17M+O5QJAG/yVmyZBT3AkyepLoqd3W8dfLyNDh/AUF/FErNmkFOVMmP6wGZiXas17B0C1lJ++ZxN3
        xynzCzDMDm2AWqww2QJBAIpqzqukpTr+c2Coz3ZFCKHloA4y55ByEgNf3+Bc8myZsmKFd5Q+amEoCPyC1IRdIdm7
        fUfwOWKcULg8UVuHrCECQAf7fyEYiN3jVbHsL9Ru+N7uynVx//AYqhtmbmIcJhf2R2nU+xns8QP6H4ToszANqOPy
        gvD0WBpN/T0xMArnZSA=
        """
    )

    /// A key with the public exponent 3.
    package static let three = key(
        """
        MIIEowIBAAKCAQEA5fQv8Y65AhXtq8+Ln3cYDZAStfYDq5A+R8c85qgd/Vl+uI8/0Sp5/SpizpZ5xaemhfSXbeem
        TKmewwz4zrr8y6N29cy0d7QBV6WOeXnO4y+8js1/Vu3LtWWsOevVj4x4m92BvD5Waw8D5M/G+A4wOgJqLhbsrM5j
        8myyq0ZIpM9y3vBjc+7zzmQw10/dFqkj+w9od9XclIzlq6MoN9mdloSogRo4vsjcMGwWIk708cTKUr9JjgKOqYNe
        UfOUlW7s7h3vX0tuTMzZBCC5iN0bu+SCDM6fGOu9i5yADiIRSPevjKm0e5bX7sZE2vJYE1ldS0ick+DskM0Z68vf
        Iv7+uQIBAwKCAQEAmU11S7R7VrlJHTUHv6S6s7VhzqQCcmAphS997xq+qOZUewoqi3GmqMbsibmmg8UZrqMPnppu
        3cZp1137NHyoh8JPToh4T81WOm5e+6aJ7Mp9tIj/j0kyeO5y0UfjtQhQZ+kBKCmO8goCmIqEpV7K0VbxdA9IczRC
        oZ3Mci7bGIkJDjqVP0ggLv94dOpsJIo/aWsuhhjUlQUphOiy/hEunqcRtHurPxbyWqcI8z0sXffooqLzRXbBjlxm
        bRAbJ5HQGZEI+T3MfJGrpKKZTqFgryrLT6zsS17ElSxXejz1Kl5Q5PpK/sEzPJWubIKmBkuexMrG0FqdPncQV6C6
        WIXZqwKBgQD1b641mJSyX245g4q9AqXzPD3elkZ7zYwqno7SyGUHjrcaTx7NBMLhEHdF+eyuY1ryLyYP4snAvnqi
        2U2vJwKN+y/WqIhHV6zWfUca7086JEmZJXc83IFLKA1btQ6srk1HAcQdST2XoaoX9QEPHyo/aDFJZbp5g75OgDIK
        dsylkQKBgQDv2epN/G4RKHbCpGV93TPRoLDEGGoh53j8xbdI8lrQGdLzo0Hq22OPl/pCu4aEAXX7L6TMwwarlX4h
        1Q28sxGmzJSLQOZ0OkWBD+W4o5vQkNq379P/y1xLg8yhIbf02xzvM24mtDdzcjunQy1P6r2vu+co9Z6HL1wy6Ci9
        J2mSqQKBgQCjn8l5EGMhlPQmV7HTVxlM0tPpuYRSiQgcabSMhZivtHoRihSIrddAtaTZUUh0QjyhdMQKlzErKacX
        O4kfb1cJUh/kcFraOnM5qNoR9N98GDEQw6TTPauHcAjnzgnIdDOEq9gThikPwRwP+KtfahwqRXYw7nxRAn7fACFc
        TzMZCwKBgQCf5pwz/Z62GvnXGEOpPiKLwHXYEEbBRPtTLnowoZHgETdNF4FHPO0KZVGB0lmtVk6ndRiIggRyY6lr
        4159zLZvMw2yK0RNfC5WCpklwmfgYJHP9Tf/3OgyV93AwSVN52ifd57EeCT3oX0aLMjf8dPKfUTF+RRaH5LMmsXT
        b5u3GwKBgFPBwfNJkgLhn2JwEW8u0BsoIxFubC3jXQTRyh15nZYRkIad9IRc0ZRn6fa6o/oeUrE9bcK1hqvvN+D2
        NyY0S6OAq3EvZu3JujOhkWzhMbsqbewpMpQONghtT+LlmkphieedRI34piTeqRCKobgeLo4dtViBvUG0xKSAkbpV
        aHyv
        """
    )

    /// The bytes of a key in PKCS#1 DER.
    private static func key(_ text: String) -> [UInt8] {
        Base64.bytes(ignoringUnknownIn: text.utf8) ?? []
    }
}
