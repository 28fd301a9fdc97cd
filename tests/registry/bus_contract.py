"""What every bus keeps to. A test module makes a bus and calls these."""

from registry.bus import Bus, Message
from tests.waiting import until


async def arrived(box: list[Message], count: int) -> None:
    await until(lambda: len(box) >= count)


async def delivers_to_every_subscriber_in_order(bus: Bus) -> None:
    first: list[Message] = []
    second: list[Message] = []
    end_first = bus.subscribe("topic", first.append)
    end_second = bus.subscribe("topic", second.append)
    for n in range(20):
        await bus.publish("topic", {"n": n})
    await arrived(first, 20)
    await arrived(second, 20)
    assert [message["n"] for message in first] == list(range(20)) == [m["n"] for m in second]
    end_first()
    end_second()


async def keeps_topics_apart_and_ends_when_told(bus: Bus) -> None:
    heard: list[Message] = []
    other: list[Message] = []
    end = bus.subscribe("a", heard.append)
    end_other = bus.subscribe("b", other.append)
    await bus.publish("b", {"n": 1})
    await arrived(other, 1)
    assert heard == []
    end()
    end()  # twice is no error
    await bus.publish("a", {"n": 2})
    await bus.publish("b", {"n": 3})
    await arrived(other, 2)
    assert heard == []
    end_other()


async def nobody_listening_is_no_error(bus: Bus) -> None:
    await bus.publish("nobody", {"n": 1})


CONTRACT = (
    delivers_to_every_subscriber_in_order,
    keeps_topics_apart_and_ends_when_told,
    nobody_listening_is_no_error,
)
