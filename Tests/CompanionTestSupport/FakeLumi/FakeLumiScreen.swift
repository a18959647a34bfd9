import CompanionWire

extension FakeLumiScript {
    /// A screen of 48 × 30 pixels with a window and a dock, as PNG.
    package static let screen: [UInt8] =
        Base64.decode(
            [
                "iVBORw0KGgoAAAANSUhEUgAAADAAAAAeCAIAAADlxgqWAAAJLUlEQVR42s3OW2vqah7H8bwSEREJUqSUUkoppTw05aEpoZZQS6id",
                "UCWoBJWg8pBIIBAICM52LXs+n0/a2rPn86H2fFhr7T3vYd/M9VzMnr6FgRHmz/fid/G/+GB//vnP/6uw/zuQDvxdD34zgJgRfDOB",
                "7ziIm8F8F1iwgMVusNQDlnvBSh9Y7QdrA2B9EGwMgc1hsAXA9gjYGQW7EOyNgf1xcECBwwlwNAmOaXAyBU6nQYIByRlwNgvOWZCa",
                "AxdOcMmBKxe49oAbHtx6wZ0fpAWQCYBsCOQQyIugEAZFTEf8pidiBuKbkfhuIuI4MW8mFrqIRQux1E0s9xArvcRqH7HWT6wPEBuD",
                "xOYQsTVMbANiZ4TYHSX2ILE/RhyME4cUcTRBHE8SJzRxOkUkpokkQ5zNEOezRIolLuaISydxxRHXLuLGQ9zyxJ2XSPuJjEBkA0Qu",
                "ROQRURCJYpgoYToY08NvBvjdCOMmOI/DBTNc7IJLFrjcDVd64GovXOuD6/1wYwBuDsKtIbg9DHcA3B2Be6NwH8KDMXg4Do8oeDwB",
                "TybhKQ0TUzA5Dc8YeD4DU7PwgoWXc/DKCa85eOOCtx54x8O0F2b8MCvAXADmQ7CAYFGEpTAsYzrym578biDjRnLeRC7g5KKZXOoi",
                "ly3kSje52kOu9ZLrfeRGP7k5QG4NkttD5M4wuQvIvRFyf5Q8gOThGHk0Th5T5MkEeTpJJmgyOUWeTZPnDJmaIS9myUuWvJojr53k",
                "DUfeusg7D5nmyYyXzPrJnEDmA2QhRBYRWRLJcpisYDrqu56KG6h5I7VgohZxaqndfvmfN0fdOKlbjrpzUWkPleGprJfK+am8QBUC",
                "VDFElRBVFqlKmKpiOmtcb503WBeM1kWTdQm3LncEZL11Wu84a9plzXisWd6a81rzfmtBsBYD1lLIWkbWimithq01TEfP6+kFA71o",
                "pJdM9DJOr3QERN856TRHZ1x01kPneDrvpQt+uijQpQBdDtEVRFdFuham65jOtqC3LRpsS0bbssm2gttW/9WBm7OlnbYMZ8u6bDmP",
                "Lc/bCl5b0W8rCbZywFYJ2arIVhNt9bCtgemYRT2zZGCWjcyKiVnFmbWOgJiMk8lyTM7F5D1MgWeKXqbkZ8oCUwkw1RBTQ0xdZBph",
                "ponp7Et6+7LBvmK0r5rsa7h9vSMge9Zpz3H2vMte8NiLvL3ktZf99opgrwbstZC9juwN0d4M21uYjl3WsysGdtXIrpnYdZzd6AiI",
                "zTnZPMcWXGzRw5Z4tuxlK362KrC1AFsPsQ3ENkW2FWbvMZ1jRe9YNTjWjI51k2MDd2x2BOTIOx0FzlF0OUoeR5l3VLyOqt9RExz1",
                "gKMRcjSRoyU67sOONqbjVvXcmoFbN3IbJm4T57Y6AuIKTq7IcSUXV/ZwFZ6rerman6sLXCPANUNcC3H3ItcOcw+Yzr2md68b3BtG",
                "96bJvYW7tzsCched7hLnLrvcFY+7yrtrXnfd724I7mbA3Qq575G7Lbofwu5HTMev6/kNA79p5LdM/DbO73QExJecfJnjKy6+6uFr",
                "PF/38g0/3xT4VoC/D/FtxD+I/GOYf8J0vg29b9Pg2zL6tk2+Hdy32xGQr+z0VThf1eWreXx13tfw+pp+X0vw3Qd87ZDvAfkeRd9T",
                "2PeM6YRNvbBlELaNwo5J2MWFvY6AhIpTqHJCzSXUPUKDF5peoeUX7gWhHRAeQsIjEp5E4TksvGC64JY+uG0I7hiDu6bgHh7c7wgo",
                "WHUGa1yw7go2PMEmH2x5g/f+YFsIPgSCj6HgEwo+i8GXcPAV06FtPdoxoF0j2jOhfRwdmNFhFzqyoONudNKDTntRog8l+9HZADof",
                "RKkhdDGMLgG6GkHXo+gGotsxdDeO0hTKTKDsJMrRKD+FCtOoyKDSDCrPogqLqnOo5kR1DjVcqOlBLR7de1Hbjx4E9BhATyH0jNCL",
                "iF7D6A3TSTt6adcg7RmlfZN0gEuHZumoSzq2SCfd0mmPlOiVkn3SWb90PiClBqWLIelyWLoC0vWIdDMq3ULpbkxKj0sZSspOSLlJ",
                "KU9LhSmpOC2VGKk8I1VmpSor1eakulNqcFLTJbU80j0vtb3Sg196FKSngPQckl6Q9CpKb2HpHdPJu3p5zyDvG+UDk3yIy0dm+bhL",
                "PrHIp91yokdO9spnffJ5v5wakC8G5csh+WpYvgbyzYh8OyrfQTk9JmfG5Swl5ybk/KRcoOXilFyalsuMXJmRq7NyjZXrc3LDKTc5",
                "ueWS7z1ym5cfvPKjX34S5OeA/BKSX5H8JsrvYfkD0yl7emXfoBwYlUOTcoQrx2blpEs5tSiJbiXZo5z1Kud9SqpfuRhQLgeVqyHl",
                "eli5AcrtiHI3qqShkhlTsuNKjlLyE0phUinSSmlKKU8rFUapzii1WaXOKo05pelUWpxy71LaHuWBVx69ypNfeRaUl4DyGlLekPIu",
                "Kh9h5RPTqft69cCgHhrVI5N6jKsnZvW0S01Y1GS3etajnveqqT71ol+9HFCvBtXrIfVmWL0F6t2Imh5VM1DNjqm5cTVPqYUJtTip",
                "lmi1PKVWptUqo9Zm1Pqs2mDV5pzacqr3nNp2qQ8e9ZFXn7zqs199EdTXgPoWUt+R+iGqn2H1B6bTDvTaoUE7MmrHJu0E107NWqJL",
                "S1q0s27tvEdL9WoXfdplv3Y1oF0PajdD2u2wdge09IiWGdWyUMuNaflxrUBpxQmtNKmVaa0ypVWntRqj1We0xqzWZLXWnHbv1Nqc",
                "9uDSHj3aE689e7UXv/YqaG8B7T2kfSDtU9R+hLWfmC5yqI8cGSLHxsiJKXKKRxLmSLIrcmaJnHdHUn/9zfbV4ODovwuWr74G3h7+",
                "6mtg4l9ffY3/9scTeeYjL97Iqz/yJkTeA5GPUOQTRX6IkZ/hyC9MFz3SR48N0RNj9NQUTeDRpDl61hU9t0RT3dGLjoCiL3z01Rt9",
                "80ffhehHIPoZiv5A0Z9i9Fc4+jumix3rYyeG2KkxljDFknjszBw774qlLLGL7thlR0CxVz725o29+2MfQuwzEPsRiv1EsV9i7Pdw",
                "7A9MFz/Rx08N8YQxnjTFz/D4uTme6opfWOKX3fGrjoDib3z83Rv/8Mc/hfiPQPxnKP4LxX8X43+E4//4D5OqoUdoz1byAAAAAElF",
                "TkSuQmCC",
            ].joined()
        ) ?? []
}
