"""The figures of a medium under load."""

import pytest
from medium_charts import (
    LoadedMedium,
    delay_chart,
    utilisation_chart,
)

pytestmark = pytest.mark.long

LOADS = [
    LoadedMedium(15, 0.9, (0.80, 0.82), (5e6, 7e6)),
    LoadedMedium(2, 0.9, (0.90, 0.90), (1e6, 1e6)),
    LoadedMedium(2, 0.5, (0.50, 0.50), (5e5, 5e5)),
]


def test_each_number_of_stations_has_a_line_in_the_order_of_the_load() -> None:
    chart = utilisation_chart(LOADS, 512)
    assert [series.name for series in chart.series] == ["2 stations", "15 stations"]
    assert [(point.x, point.y) for point in chart.series[0].points] == [(50, 50), (90, 90)]
    high = chart.series[1].points[0]
    assert (high.y, high.count) == (pytest.approx(81), 2)
    assert high.low is not None and high.low < 80 and high.high is not None and high.high > 82
    assert [point.y for point in delay_chart(LOADS, 512).series[1].points] == [pytest.approx(6)]
