"""What requests may say. Unknown fields and wrong types are refused, never converted."""

from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    model_validator,
)

QUESTION_CHARS = 8000

Domain = Annotated[
    str,
    StringConstraints(
        min_length=1,
        max_length=253,
        strip_whitespace=True,
        to_lower=True,
        pattern=r"^[^\s/:@]+(\.[^\s/:@]+)*$",
    ),
]
Domains = Annotated[list[Domain], Field(max_length=100)]
SourceNumbers = Annotated[list[Annotated[int, Field(ge=1, le=1_000_000)]], Field(max_length=1000)]


def _not_blank(text: str) -> str:
    if not text.strip():
        raise ValueError("must not be blank")
    return text


Text = Annotated[str, Field(min_length=1, max_length=QUESTION_CHARS), AfterValidator(_not_blank)]


class Body(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class Start(Body):
    """A new research thread."""

    question: Text = Field(description="What to find out; 1 to 8,000 characters, not blank")
    language: Annotated[str, Field(pattern=r"^(auto|[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*)$")] = Field(
        default="auto",
        description="Language of plan and report, such as `en` or `zh`; auto: the question's",
    )
    depth: Literal["quick", "standard", "deep"] = "standard"
    review_plan: bool = Field(default=True, description="Wait for the reader to approve the plan")
    clarify: bool = Field(default=True, description="May ask back before planning")
    web: bool = True
    documents: bool = True
    allow_domains: Domains = []
    deny_domains: Domains = []
    max_tokens: Annotated[int, Field(ge=1, le=10**9)] | None = None
    max_seconds: Annotated[int, Field(ge=1, le=7 * 86400)] | None = None
    priority: Literal["high", "default", "low"] = "default"

    @model_validator(mode="after")
    def _somewhere_to_look(self) -> "Start":
        if not self.web and not self.documents:
            raise ValueError("web and documents are both false: there is nowhere to look")
        return self

    def work(self) -> dict[str, Any]:
        """What the workflow gets: all but the priority, which is the scheduler's."""
        return self.model_dump(exclude={"priority"})


class Cancel(Body):
    mode: Literal["stop", "finish"] = Field(
        default="stop",
        description="finish: stop researching and write the report from what there is",
    )
    wait: bool = Field(
        default=False, description="Answer only once the run has ended; 10 s at most"
    )


class Resume(Body):
    finish: bool = Field(default=False, description="Write from what there is instead of going on")


class Answer(Body):
    """The answer to one interrupt; `value` has the shape its kind asks for."""

    interrupt_id: Annotated[str, Field(min_length=1, max_length=200)]
    value: Any = Field(description="review_plan: {action, steps?, feedback?}; clarify: {text}")


class Modify(Body):
    """A wish that comes later; at least one field must say something."""

    message: Text | None = None
    exclude_sources: SourceNumbers = []
    include_sources: SourceNumbers = []
    pin_sources: SourceNumbers = []
    exclude_domains: Domains = []

    @model_validator(mode="after")
    def _says_something(self) -> "Modify":
        if self.message is None and not any(
            (self.exclude_sources, self.include_sources, self.pin_sources, self.exclude_domains)
        ):
            raise ValueError("say at least one thing: a message, sources or domains")
        return self
